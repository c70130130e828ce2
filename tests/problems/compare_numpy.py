#!/usr/bin/env python3
"""The oracles beside a computation in NumPy, through .npy files: hipbench and NumPy must read each other's files, and
agree.

compare_numpy.py HIPBENCH            the test: small random cases of every problem; exit status 77 without NumPy
compare_numpy.py HIPBENCH FILE.gz    how far the oracle is from outputs of the challenge's PyTorch reference: JSON Lines, a
                                     case each, with its sizes, seed and outputs; the inputs follow from the seed
                                     (formula())
"""
import gzip
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("python3-numpy is not installed: nothing is compared")
    sys.exit(77)


def bf16_bits(x):
    """Rounded to nearest even; finite numbers."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def bf16_value(bits):
    return (np.asarray(bits, np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def bf16(x):
    return bf16_value(bf16_bits(x))


def e4m3fnuz_values():
    codes = np.arange(256)
    sign, exponent, fraction = np.where(codes & 128, -1.0, 1.0), codes >> 3 & 15, codes & 7
    values = sign * np.where(exponent == 0, fraction * 2.0**-10, (8 + fraction) * 2.0 ** (exponent - 11.0))
    values[128] = np.nan
    return values


E4M3FNUZ = e4m3fnuz_values()


def e4m3fnuz_bits(x):
    """The nearest code, of two the even one; |x| <= 240."""
    order = np.argsort(E4M3FNUZ[:128])
    magnitudes = E4M3FNUZ[:128][order]
    above = np.clip(np.searchsorted(magnitudes, np.abs(x)), 1, 127)
    to_above, to_below = magnitudes[above] - np.abs(x), np.abs(x) - magnitudes[above - 1]
    code = np.where((to_above < to_below) | ((to_above == to_below) & (above % 2 == 0)), above, above - 1)
    return np.where((np.asarray(x) < 0) & (code != 0), code | 128, code).astype(np.uint8)


# ---- the three problems, written down as their READMEs define them


def fp8_gemm(t):
    k, m = t["a"].shape
    n = t["b"].shape[1]
    a_scale = np.repeat(t["a_scale"].astype(np.float64), 128, axis=0)[:k]
    b_scale = np.repeat(np.repeat(t["b_scale"].astype(np.float64), 128, axis=0)[:k], 128, axis=1)[:, :n]
    return {"c": (E4M3FNUZ[t["a"]] * a_scale).T @ (E4M3FNUZ[t["b"]] * b_scale)}


def moe(t, top_k):
    x = t["x"].astype(np.float64)

    def feed_forward(rows, gate, up, down):
        g = rows @ gate.astype(np.float64)
        return g / (1 + np.exp(-g)) * (rows @ up.astype(np.float64)) @ down.astype(np.float64)

    def softmax(logits):
        e = np.exp(logits - logits.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    logits = x @ t["router"].astype(np.float64).T
    weights = softmax(logits)
    scores = softmax(logits.astype(np.float16).astype(np.float64)).astype(np.float16)
    chosen = np.argsort(-scores, axis=1, kind="stable")[:, :top_k]
    y = feed_forward(x, t["s_gate"], t["s_up"], t["s_down"])
    for expert in range(logits.shape[1]):
        tokens = np.nonzero((chosen == expert).any(axis=1))[0]
        out = feed_forward(x[tokens], t["w_gate"][expert], t["w_up"][expert], t["w_down"][expert])
        y[tokens] += weights[tokens, expert][:, None] * out
    return {"y": y}


def rope(x, positions):
    """x: [..., positions, 64]"""
    theta = bf16(9984.0 ** (-np.arange(32) / 32))
    angle = bf16(bf16(positions)[:, None] * theta)
    cos, sin = (np.concatenate([f, f], axis=1) for f in (bf16(np.cos(angle)), bf16(np.sin(angle))))
    turned = np.concatenate([-x[..., 32:], x[..., :32]], axis=-1)
    return bf16(bf16(x * cos) + bf16(turned * sin))


def mla_decode(t, prefill):
    """Keys and values of every head expanded; nothing absorbed."""
    t = {name: bf16_value(bits) for name, bits in t.items()}
    heads, keys = t["wo"].shape[1] // 128, prefill + 1
    appended = bf16(t["x"] @ t["wkv_down"].T)
    y = []
    for batch, row in enumerate(t["x"]):
        cache = np.concatenate([t["kv_cache"][batch, :prefill], appended[batch : batch + 1]])
        expanded = (cache[:, :512] @ t["wkv_up"].T).reshape(keys, heads, 256)
        q = (t["wq_up"] @ (t["wq_down"] @ row)).reshape(heads, 192)
        q_rope = rope(bf16(q[:, None, 128:]), np.array([prefill]))[:, 0]
        k_rope = rope(cache[:, 512:], np.arange(keys))
        scores = (np.einsum("hd,thd->ht", q[:, :128], expanded[:, :, :128]) + q_rope @ k_rope.T) / math.sqrt(192)
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        y.append(t["wo"] @ np.einsum("ht,thd->hd", p, expanded[:, :, 128:]).reshape(-1))
    return {"kv_cache": appended, "y": np.array(y)}


# ---- hipbench


def oracle(hipbench, problem, shape, tensors, save=np.save, draw=None):
    """The outputs as numbers, and the inputs as hipbench has them."""
    with tempfile.TemporaryDirectory() as folder:
        inputs, outputs = Path(folder, "in"), Path(folder, "out")
        inputs.mkdir()
        for name, tensor in tensors.items():
            save(inputs / f"{name}.npy", tensor)
        command = [hipbench, "oracle", problem, "--shape", shape, "--inputs", inputs, "--output", outputs]
        command += [] if draw is None else ["--draw", str(draw)]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"hipbench oracle {problem} --shape {shape}: {result.stderr}")
        read = lambda path: {file.stem: np.load(file, allow_pickle=False) for file in path.glob("*.npy")}
        return read(outputs), read(inputs)


def numbers(array):
    """Outputs are bf16 as raw bits, f16 or f32."""
    return bf16_value(array) if array.dtype == np.uint16 else array.astype(np.float64)


def saved_in_fortran_order(file, array):
    np.save(file, np.asfortranarray(array))
    if array.ndim > 1 and min(array.shape) > 1:
        assert b"'fortran_order': True" in file.read_bytes()[:200]


def saved_with_a_newer_header(file, array):
    with open(file, "wb") as out:
        np.lib.format.write_array(out, array, version=(2, 0))


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def random_case(problem, rng):
    """Sizes for --shape, tensors, and what NumPy computes."""
    normal = lambda *shape: rng.standard_normal(shape)
    if problem == "identity":
        x = normal(7, 13).astype(np.float32)
        return "rows=7,columns=13", {"x": x}, {"y": x}
    if problem == "fp8_gemm":
        m, n, k = 33, 150, 300
        t = {
            "a": e4m3fnuz_bits(normal(k, m)),
            "b": e4m3fnuz_bits(normal(k, n)),
            "a_scale": normal(3, m).astype(np.float32),
            "b_scale": normal(3, 2).astype(np.float32),
        }
        return f"m={m},n={n},k={k}", t, fp8_gemm(t)
    if problem == "moe":
        tokens, hidden, width, experts = 10, 96, 40, 8
        f16 = lambda scale, *shape: (normal(*shape) / math.sqrt(scale)).astype(np.float16)
        t = {"x": f16(1, tokens, hidden), "router": f16(hidden, experts, hidden)}
        for name in ("gate", "up"):
            t["w_" + name] = f16(width, experts, hidden, width)
            t["s_" + name] = f16(width, hidden, width)
        t["w_down"] = f16(hidden, experts, width, hidden)
        t["s_down"] = f16(hidden, width, hidden)
        return f"n_experts={experts},bs=2,seq=5,d_hidden={hidden},d_expert={width}", t, moe(t, 4)
    expect(problem == "mla_decode", f"no computation for {problem}")
    bs, dim, dq, heads, prefill = 2, 80, 48, 3, 301
    shapes = {"wq_down": (dq, dim), "wkv_down": (576, dim), "wq_up": (heads * 192, dq), "wkv_up": (heads * 256, 512)}
    shapes["wo"] = (dim, heads * 128)
    t = {name: bf16_bits(normal(*shape) / math.sqrt(shape[1])) for name, shape in shapes.items()}
    t["x"], t["kv_cache"] = bf16_bits(normal(bs, dim)), bf16_bits(normal(bs, prefill + 3, 576))
    shape = f"bs={bs},prefill={prefill},dim={dim},dq={dq},n_heads={heads},max_seq={prefill + 3}"
    return shape, t, mla_decode(t, prefill)


# Both sides round once from double: they differ by a step of the output type at most.
STEP = {"identity": 0, "fp8_gemm": 2**-8, "moe": 2**-10, "mla_decode": 2**-8}


def test(hipbench):
    rng = np.random.default_rng(1)
    listed = json.loads(subprocess.run([hipbench, "problems", "--json"], capture_output=True, check=True).stdout)
    present = {problem["id"] for problem in listed["problems"]}
    for problem, step in STEP.items():
        if problem not in present:
            continue
        shape, tensors, expected = random_case(problem, rng)
        for save in (np.save, saved_in_fortran_order, saved_with_a_newer_header):
            outputs, _ = oracle(hipbench, problem, shape, tensors, save)
            expect(set(outputs) == set(expected), f"{problem}: outputs {set(outputs)}")
            for name, want in expected.items():
                got = numbers(outputs[name])
                expect(got.shape == want.shape, f"{problem} {name}: {got.shape}, expected {want.shape}")
                wrong = np.count_nonzero(np.abs(got - want) > step * np.abs(want) + step * 1e-4)
                expect(wrong == 0, f"{problem} {name}: {wrong} of {got.size} are not NumPy's ({save.__name__})")
        print(f"{problem} {shape}: agrees with NumPy")
    # What hipbench writes, NumPy reads and saves again.
    for problem, shape in {"fp8_gemm": "m=32,n=64,k=128", "identity": "rows=3,columns=5"}.items():
        if problem not in present:
            continue
        drawn, inputs = oracle(hipbench, problem, shape, {}, draw=5)
        again, _ = oracle(hipbench, problem, shape, inputs, saved_in_fortran_order)
        for name in drawn:
            expect(drawn[name].tobytes() == again[name].tobytes(), f"{problem} {name} after a round trip")
    print("files of hipbench survive NumPy")


# ---- outputs of the challenge's reference


def formula(seed, tensor, shape, scale):
    """A hash of (seed, tensor, index), as float32 in [-scale, scale)."""
    mask = (1 << 64) - 1
    x = np.arange(1, math.prod(shape) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x += np.uint64((seed * 0x9E3779B97F4A7C15 + tensor * 0xD1B54A32D192ED03) & mask)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return (((x >> np.uint64(40)).astype(np.float64) / 2**24 * 2 - 1) * scale).astype(np.float32).reshape(shape)


def reference_case(case):
    """Problem, sizes, tensors, official tolerance (relative, absolute)."""
    draw = lambda tensor, shape, scale: formula(case["seed"], tensor, shape, scale)
    root = math.sqrt
    if case["task"] == "fp8_gemm":
        m, n, k = case["m"], case["n"], case["k"]
        blocks, columns = -(-k // 128), -(-n // 128)
        t = {"a": e4m3fnuz_bits(draw(0, (k, m), 2.0)), "b": e4m3fnuz_bits(draw(1, (k, n), 2.0))}
        t |= {"a_scale": draw(2, (blocks, m), 1.0), "b_scale": draw(3, (blocks, columns), 1.0)}
        return f"m={m},n={n},k={k}", t, (2e-2, 1e-3)
    if case["task"] == "moe":
        hidden, width, experts = case["dhidden"], case["dexpert"], case["nroutedexperts"]
        shared, tokens = width * case["nsharedexperts"], case["bs"] * case["seqlen"]
        f16 = lambda tensor, shape, divisor: draw(tensor, shape, root(3) / root(divisor)).astype(np.float16)
        stacked = lambda first, shape, divisor: np.stack([f16(first + 3 * e, shape, divisor) for e in range(experts)])
        t = {"x": f16(0, (tokens, hidden), 1), "router": f16(1, (experts, hidden), hidden)}
        t |= {"s_gate": f16(2, (hidden, shared), shared), "s_up": f16(3, (hidden, shared), shared)}
        t |= {"s_down": f16(4, (shared, hidden), hidden), "w_down": stacked(12, (width, hidden), hidden)}
        t |= {"w_gate": stacked(10, (hidden, width), width), "w_up": stacked(11, (hidden, width), width)}
        sizes = f"n_experts={experts},bs={case['bs']},seq={case['seqlen']},d_hidden={hidden},d_expert={width}"
        return f"{sizes},d_shared={shared},top_k={case['nexpertspertoken']}", t, (1e-2, 1e-2)
    bs, dim, dq, prefill = case["batchsize"], case["dim"], case["dq"], case["prefill"]
    shapes = {"wq_down": (dq, dim), "wkv_down": (576, dim), "wq_up": (192 * 128, dq), "wkv_up": (256 * 128, 512)}
    shapes["wo"] = (dim, 128 * 128)
    t = {"x": bf16_bits(draw(0, (bs, dim), root(3)))}
    for tensor, (name, shape) in enumerate(shapes.items(), 1):
        t[name] = bf16_bits(draw(tensor, shape, root(3) / root(shape[1])))
    t["kv_cache"] = np.zeros((bs, prefill + 1, 576), np.uint16)
    t["kv_cache"][:, :prefill] = bf16_bits(draw(6, (bs, prefill, 576), root(3)))
    return f"bs={bs},prefill={prefill},dim={dim},dq={dq},max_seq={prefill + 1}", t, (2e-2, 8e-3)


def compare_reference(hipbench, path):
    worst = {}
    for line in gzip.open(path, "rt"):
        case = json.loads(line)
        shape, tensors, (relative, absolute) = reference_case(case)
        outputs, _ = oracle(hipbench, case["task"], shape, tensors)
        for name, key in {"c": "output", "y": "output", "kv_cache": "cache_row_at_prefill"}.items():
            if name not in outputs:
                continue
            ours = numbers(outputs[name])
            reference = numbers(np.frombuffer(bytes.fromhex(case[key]), outputs[name].dtype).reshape(ours.shape))
            distance = np.abs(reference - ours)
            share = distance / (absolute + relative * np.abs(ours))
            worst[case["task"]] = max(worst.get(case["task"], 0), share.max())
            print(
                f"{case['task']} {shape} seed {case['seed']}, {name}: {ours.size} elements, "
                f"{np.count_nonzero(distance)} differ, largest distance {distance.max():.3g}, {share.max():.3f} of the tolerance",
                flush=True,
            )
    for task, share in worst.items():
        print(f"{task}: at most {share:.3f} of the official tolerance")
    if max(worst.values()) > 1:
        sys.exit("FAILED: a case is outside")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    test(sys.argv[1]) if len(sys.argv) == 2 else compare_reference(sys.argv[1], sys.argv[2])
