#include "agents/run_spec.hpp"

#include "common/json.hpp"

namespace hipbench::agents {

std::string to_json(const RunSpec& spec) {
  Json problems = Json::array(), parts = Json::array();
  for (const SpecProblem& problem : spec.problems)
    problems.push_back({{"id", problem.id}, {"shape_set", problem.shape_set}, {"shapes", problem.shapes}});
  for (const FeedbackPart part : spec.feedback.parts) parts.push_back(to_string(part));
  return json_text({{"provider", to_string(spec.endpoint.protocol)},
                    {"url", spec.endpoint.url},
                    {"model", spec.model},
                    {"most_tokens", spec.most_tokens},
                    {"temperature", spec.temperature ? Json(*spec.temperature) : Json(nullptr)},
                    {"strategy", spec.strategy},
                    {"turns", spec.strategy_options.turns},
                    {"patience", spec.strategy_options.patience},
                    {"islands", spec.strategy_options.islands},
                    {"problems", std::move(problems)},
                    {"samples", spec.samples},
                    {"track", to_string(spec.track)},
                    {"hardware", spec.hardware},
                    {"examples", spec.examples},
                    {"feedback", std::move(parts)},
                    {"feedback_tokens", spec.feedback.most_tokens},
                    {"prompts_folder", spec.prompts_folder},
                    {"prompts_sha256", spec.prompts_sha256},
                    {"seed", std::to_string(spec.seed)}});
}

Result<RunSpec> parse_spec(const std::string& text) {
  const Result<Json> parsed = parse_json(text);
  if (!parsed) return Error{"the run's options cannot be read: " + parsed.error().message};
  try {
    const Json& json = *parsed;
    RunSpec spec;
    const std::optional<Protocol> protocol = protocol_from(json.at("provider").get<std::string>());
    if (!protocol) return Error{"the run's options name a provider that this version does not know"};
    spec.endpoint = {*protocol, json.at("url")};
    spec.model = json.at("model");
    spec.most_tokens = json.at("most_tokens");
    if (!json.at("temperature").is_null()) spec.temperature = json.at("temperature").get<double>();
    spec.strategy = json.at("strategy");
    spec.strategy_options = {json.at("turns"), json.at("patience"), json.at("islands")};
    for (const Json& problem : json.at("problems"))
      spec.problems.push_back({problem.at("id"), problem.at("shape_set"), problem.at("shapes")});
    spec.samples = json.at("samples");
    spec.track = json.at("track") == "host" ? Track::Host : Track::Kernel;
    spec.hardware = json.at("hardware");
    spec.examples = json.at("examples").get<std::vector<std::string>>();
    spec.feedback.parts.clear();
    for (const Json& name : json.at("feedback"))
      if (const auto part = feedback_part_from(name.get<std::string>())) spec.feedback.parts.insert(*part);
    spec.feedback.most_tokens = json.at("feedback_tokens");
    spec.prompts_folder = json.at("prompts_folder");
    spec.prompts_sha256 = json.at("prompts_sha256");
    spec.seed = std::stoull(json.at("seed").get<std::string>());
    return spec;
  } catch (const std::exception& error) {
    return Error{std::string("the run's options cannot be read: ") + error.what()};
  }
}

results::StoredTurn to_stored(const Turn& turn) {
  results::StoredTurn stored;
  stored.step = to_string(turn.step.kind);
  if (turn.step.parent) stored.parent = static_cast<int64_t>(*turn.step.parent);
  if (turn.step.partner) stored.partner = static_cast<int64_t>(*turn.step.partner);
  stored.island = turn.step.island;
  stored.answer = to_string(turn.answer);
  stored.detail = turn.detail;
  stored.source = turn.source;
  stored.similar_to = turn.similar_to;
  stored.verdict = turn.source.empty() ? "" : to_string(turn.verdict);
  stored.rung = to_string(turn.score.rung);
  stored.right = turn.score.right;
  stored.time_us = turn.score.time_us;
  stored.wave_instructions = turn.score.wave_instructions;
  Json feedback = Json::array();
  for (const FeedbackItem& item : turn.feedback)
    feedback.push_back({{"part", to_string(item.part)}, {"text", item.text}});
  stored.feedback = json_text(feedback);
  return stored;
}

Result<Turn> from_stored(const results::StoredTurn& stored) {
  Turn turn;
  const std::optional<StepKind> step = step_kind_from(stored.step);
  const std::optional<AnswerKind> answer = answer_kind_from(stored.answer);
  const Result<Json> feedback = parse_json(stored.feedback);
  if (!step || !answer || !feedback || !feedback->is_array())
    return Error{"a turn in the database cannot be read; it was changed by hand"};
  turn.step.kind = *step;
  if (stored.parent) turn.step.parent = static_cast<size_t>(*stored.parent);
  if (stored.partner) turn.step.partner = static_cast<size_t>(*stored.partner);
  turn.step.island = static_cast<unsigned>(stored.island);
  turn.answer = *answer;
  turn.detail = stored.detail;
  turn.source = stored.source;
  turn.similar_to = stored.similar_to;
  turn.evaluation = stored.evaluation;
  turn.verdict = verdict_kind_from(stored.verdict).value_or(VerdictKind::Infrastructure);
  for (const Score::Rung rung : {Score::Rung::NoCandidate, Score::Rung::NotCompiled, Score::Rung::NotRunnable,
                                 Score::Rung::Wrong, Score::Rung::Passed})
    if (to_string(rung) == stored.rung) turn.score.rung = rung;
  turn.score.right = stored.right;
  turn.score.time_us = stored.time_us;
  turn.score.wave_instructions = stored.wave_instructions;
  for (const Json& item : *feedback) {
    const auto part = item.is_object() ? feedback_part_from(item.value("part", "")) : std::nullopt;
    if (part) turn.feedback.push_back({*part, item.value("text", "")});
  }
  return turn;
}

}  // namespace hipbench::agents
