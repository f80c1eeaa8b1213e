// The engines that are not in Rust, with the rules, texts and answers that the Rust program wrote.
//
// opencode is not run: this is the way in which it is said to judge, in our own words. All rules are in
// one list, the last one that fits decides, and the tool and the pattern of each rule are made a regular
// expression anew. Its list is ours the other way round, so that the same rule decides.
//
// gemini-cli-core is the package from npm, and its `PolicyEngine` is asked. Its rules have regular
// expressions over the arguments as JSON, and rules of a higher priority come first. The tool is none of
// its shell tools, whose commands it would parse first. It tells each rule to `console.debug`: nobody listens.
import { readFileSync } from "node:fs";

const ROUNDS = 11;
const BATCH_US = 20_000;

const body = (glob) => glob.replace(/[.+^${}()|[\]\\\/]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".");

const opencode = (patterns) => {
  const expression = (glob) => new RegExp("^" + body(glob) + "$", "s");
  const rules = patterns.map((pattern, number) => ({ tool: "bash", pattern, number })).reverse();
  return (text) =>
    rules.findLast((rule) => expression(rule.tool).test("bash") && expression(rule.pattern).test(text))?.number ?? null;
};

const gemini = async (patterns) => {
  const { PolicyEngine, PolicyDecision } = await import("@google/gemini-cli-core");
  console.debug = () => {};
  const rules = patterns.map((pattern, number) => ({
    name: String(number),
    toolName: "bash",
    argsPattern: new RegExp('^\\{\\0"command":"' + body(JSON.stringify(pattern).slice(1, -1)) + '"\\0\\}$', "s"),
    decision: PolicyDecision.ALLOW,
    priority: patterns.length - number,
  }));
  const engine = new PolicyEngine({ rules, defaultDecision: PolicyDecision.ASK_USER });
  return async (text) => {
    const { rule } = await engine.check({ name: "bash", args: { command: text } });
    return rule ? Number(rule.name) : null;
  };
};

const engines = [
  [`opencode's algorithm, node ${process.versions.node}`, opencode],
  ["gemini-cli-core 0.61.0", gemini],
];

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

const shown = (us) => (us < 10 ? `${us.toFixed(2)} µs` : us < 1000 ? `${us.toFixed(0)} µs` : `${(us / 1000).toFixed(2)} ms`);

const batch = async (decide, texts) => {
  const before = process.cpuUsage();
  let calls = 0;
  do {
    for (const text of texts) await decide(text);
    calls += texts.length;
  } while (process.cpuUsage(before).user < BATCH_US);
  return process.cpuUsage(before).user / calls;
};

for (const { rules, bytes, patterns, texts, answers, ours_us } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const deciding = [];
  for (const [name, make] of engines) {
    let decide;
    try {
      decide = await make(patterns);
    } catch (error) {
      if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
      console.error(`${name} is not installed: npm install --prefix benches/peers --ignore-scripts --omit=optional`);
      continue;
    }
    for (const [at, text] of texts.entries()) {
      const found = await decide(text);
      if (found !== answers[at]) throw new Error(`${name}: ${text}: ${found} and not ${answers[at]}`);
    }
    deciding.push({ name, decide, times: [] });
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const { decide, times } of deciding) times.push(await batch(decide, texts));
  }
  for (const { name, times } of deciding) {
    const us = median(times);
    console.log(`| ${rules} | ${bytes} B | ${name} | ${shown(us)} | ${(us / ours_us).toFixed(0)} |`);
  }
}
process.exit(0);
