// mcp_client.mjs HIPBENCH DATABASE STARTER: the client of the npm package @modelcontextprotocol/sdk lists the tools of
// `hipbench mcp` and calls every one of them. Exits with 1 and a line for each expectation that fails.
import {readFileSync} from "node:fs";
import {Client} from "@modelcontextprotocol/sdk/client/index.js";
import {StdioClientTransport} from "@modelcontextprotocol/sdk/client/stdio.js";

const [hipbench, database, starter] = process.argv.slice(2);
let failures = 0;
function expect(is_so, what) {
  if (is_so) return;
  console.log(`FAILED: ${what}`);
  ++failures;
}

const client = new Client({name: "hipbench-test", version: "1"});
await client.connect(new StdioClientTransport({command: hipbench, args: ["mcp", "--db", database, "-p", "identity"]}));
const names = (await client.listTools()).tools.map((tool) => tool.name);
expect(names.join() === "problem,evaluate,check,profile,submit,history", `the tools are ${names.join()}`);

const source = readFileSync(starter, "utf8");
async function call(name, args, options) {
  const result = await client.callTool({name, arguments: args}, undefined, options);
  return {text: result.content.map((part) => part.text).join("\n"), failed: Boolean(result.isError)};
}
const one = {problem: "identity", source};
expect((await call("problem", {})).text.includes("identity"), "problem lists the problems");
expect((await call("problem", {problem: "identity"})).text.includes("starter"), "problem shows one");
let told = 0;
const evaluated = await call("evaluate", one, {onprogress: () => ++told});
expect(evaluated.text.includes("It passed"), `evaluate passes: ${evaluated.text}`);
expect(told > 0, "who asks for progress is told of it");
expect((await call("check", one)).text.includes("It passed"), "check passes");
const profile = await call("profile", one);
expect(profile.text.includes("wave instructions") && profile.text.includes("hottest lines"), `profile says what stands out: ${profile.text}`);
expect((await call("submit", one)).text.includes("It passed"), "submit passes");
expect((await call("evaluate", {problem: "identity", source: "no code"})).text.includes("compile_error"), "what does not compile is told so");
expect((await call("evaluate", {problem: "fp8_gemm", source})).failed, "another problem is refused");
expect(JSON.parse((await call("history", {limit: 2})).text).length === 2, "history keeps to its limit");

const stop = new AbortController();
const cancelled = call("evaluate", one, {signal: stop.signal}).then(() => false, () => true);
stop.abort();
expect(await cancelled, "a call can be cancelled");
expect((await call("history", {})).text.includes("submit"), "the session goes on after that");
await client.close();
console.log(failures === 0 ? "all as expected" : `${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
