//! The engines, each with the same question.

use std::str::FromStr;

use casbin::{CoreApi, DefaultModel, Enforcer, MemoryAdapter, MgmtApi};
use cedar_policy::{
    Authorizer, Context, Entities, EntityUid, PolicySet, Request, RestrictedExpression,
};
use podward_policy::{Action, Cause, KnownTools, Lowered, Policies, Policy, PolicySpec};

use crate::workload::{Target, operation};

pub(crate) trait Engine {
    fn name(&self) -> &'static str;

    /// The first rule that matches a command, from 0.
    fn first_match(&self, text: &str) -> Option<usize>;
}

/// podward's first: the others are compared with it.
pub(crate) fn all(patterns: &[String]) -> Vec<Box<dyn Engine>> {
    vec![
        Box::new(ours(patterns)),
        Box::new(GlobLoop::new(patterns)),
        Box::new(Cedar::new(patterns)),
        Box::new(Rego::new(patterns)),
        Box::new(Casbin::new(patterns)),
    ]
}

pub(crate) struct Ours(Policies);

pub(crate) fn ours(patterns: &[String]) -> Ours {
    let mut spec = PolicySpec::new(Action::Ask);
    for pattern in patterns {
        spec = spec.rule("bash", pattern, Action::Allow);
    }
    let policy = Policy::compile_unread(&spec, &KnownTools::built_in()).expect("the rules compile");
    Ours(Policies::from(policy).indexed())
}

impl Engine for Ours {
    fn name(&self) -> &'static str {
        "podward-policy, indexed"
    }

    fn first_match(&self, text: &str) -> Option<usize> {
        let target = Target {
            tool: "bash",
            text: text.to_owned(),
        };
        let call = Lowered::from(operation(&target));
        match self.0.judge(&call).cause {
            Cause::Rule { rule, .. } => Some(rule.0),
            _ => None,
        }
    }
}

struct GlobLoop(Vec<glob::Pattern>);

impl GlobLoop {
    fn new(patterns: &[String]) -> Self {
        let compiled = patterns.iter().map(|pattern| glob::Pattern::new(pattern));
        Self(compiled.collect::<Result<_, _>>().expect("globs"))
    }
}

impl Engine for GlobLoop {
    fn name(&self) -> &'static str {
        "`glob` 0.3.4, in a loop"
    }

    fn first_match(&self, text: &str) -> Option<usize> {
        self.0.iter().position(|pattern| pattern.matches(text))
    }
}

struct Cedar {
    policies: PolicySet,
    authorizer: Authorizer,
    entities: Entities,
    ids: [EntityUid; 3],
}

impl Cedar {
    fn new(patterns: &[String]) -> Self {
        let mut text = String::new();
        for (idx, pattern) in patterns.iter().enumerate() {
            let pattern = pattern.replace('\\', "\\\\").replace('"', "\\\"");
            text.push_str(&format!(
                "@id(\"{idx}\") permit(principal, action, resource) \
                 when {{ context.target like \"{pattern}\" }};\n"
            ));
        }
        let uid = |text| EntityUid::from_str(text).expect("an id");
        Self {
            policies: PolicySet::from_str(&text).expect("policies"),
            authorizer: Authorizer::new(),
            entities: Entities::empty(),
            ids: [uid("U::\"a\""), uid("A::\"bash\""), uid("R::\"r\"")],
        }
    }
}

impl Engine for Cedar {
    fn name(&self) -> &'static str {
        "cedar-policy 4.14.1"
    }

    fn first_match(&self, text: &str) -> Option<usize> {
        let target = RestrictedExpression::new_string(text.to_owned());
        let context = Context::from_pairs([("target".to_owned(), target)]).expect("a context");
        let [principal, action, resource] = self.ids.clone();
        let request = Request::new(principal, action, resource, context, None).expect("a request");
        let response = self
            .authorizer
            .is_authorized(&request, &self.policies, &self.entities);
        // Its ids are `policy0`, `policy1`, … in the order of the text.
        response
            .diagnostics()
            .reason()
            .filter_map(|id| id.to_string().strip_prefix("policy")?.parse().ok())
            .min()
    }
}

struct Rego(std::cell::RefCell<regorus::Engine>);

impl Rego {
    fn new(patterns: &[String]) -> Self {
        // By default it keeps 128 compiled globs, and compiles the others again and again.
        regorus::cache::configure(regorus::cache::Config {
            glob: regorus::cache::Config::MAX_CAPACITY,
            ..regorus::cache::Config::default()
        });
        let mut engine = regorus::Engine::new();
        let module = "package p\nimport rego.v1\n\
            hits contains i if { some i, pattern in data.patterns; glob.match(pattern, null, input) }\n\
            first := min(hits)\n";
        engine
            .add_policy("p.rego".to_owned(), module.to_owned())
            .expect("a module");
        let data = serde_json::json!({ "patterns": patterns }).to_string();
        let data = regorus::Value::from_json_str(&data).expect("data");
        engine.add_data(data).expect("data");
        Self(std::cell::RefCell::new(engine))
    }
}

impl Engine for Rego {
    fn name(&self) -> &'static str {
        "regorus 0.14.1"
    }

    fn first_match(&self, text: &str) -> Option<usize> {
        let mut engine = self.0.borrow_mut();
        engine.set_input(regorus::Value::from(text));
        let found = engine.eval_rule("data.p.first".to_owned()).ok()?;
        usize::try_from(found.as_u64().ok()?).ok()
    }
}

struct Casbin(Enforcer);

impl Casbin {
    fn new(patterns: &[String]) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let model = DefaultModel::from_str(
                "[request_definition]\nr = obj\n[policy_definition]\np = priority, obj, eft\n\
                 [policy_effect]\ne = priority(p.eft) || deny\n\
                 [matchers]\nm = stars(r.obj, p.obj)\n",
            )
            .await
            .expect("a model");
            let mut enforcer = Enforcer::new(model, MemoryAdapter::default())
                .await
                .expect("an enforcer");
            enforcer.add_function(
                "stars",
                casbin::function_map::OperatorFunction::Arg2(|text, pattern| {
                    let text = text.into_string().unwrap_or_default();
                    let pattern = pattern.into_string().unwrap_or_default();
                    stars(text.as_bytes(), pattern.as_bytes()).into()
                }),
            );
            let rules = patterns.iter().enumerate();
            let rules = rules
                .map(|(idx, pattern)| vec![idx.to_string(), pattern.clone(), "allow".to_owned()]);
            enforcer.add_policies(rules.collect()).await.expect("rules");
            Self(enforcer)
        })
    }
}

/// The textbook matcher: its own recompiles every glob at every comparison.
fn stars(text: &[u8], pattern: &[u8]) -> bool {
    let (mut t, mut p, mut back) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                back = Some((p, t));
                p += 1;
            }
            Some(c) if *c == b'?' || text.get(t) == Some(c) => {
                t += 1;
                p += 1;
            }
            _ => match back {
                Some((star, from)) => {
                    back = Some((star, from + 1));
                    p = star + 1;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern
        .get(p..)
        .is_some_and(|rest| rest.iter().all(|c| *c == b'*'))
}

impl Engine for Casbin {
    fn name(&self) -> &'static str {
        "casbin 2.20.0"
    }

    fn first_match(&self, text: &str) -> Option<usize> {
        // Which rule it was is told by an optional feature; the answer alone is timed.
        self.0.enforce((text,)).ok()?.then_some(usize::MAX)
    }
}
