use proptest::prelude::*;
use serde_json::json;

use super::*;

fn request(call: u8, question: u8) -> PermissionRequest {
    let id = format!("call_{call}/call_{question}");
    serde_json::from_value(json!({
        "id": id, "pod": "worker", "path": ["test"], "call": id, "tool": "bash", "arguments": {}, "cwd": "/",
        "operations": [], "ruling": { "verdict": "ask", "cause": { "kind": "repeated" },
            "coverage": { "kind": "full" } },
        "reason": "repeated", "asking": [], "choices": [], "digest": "", "unasked": false,
        "asked_at": "2026-01-02T03:04:05.678Z",
    }))
    .unwrap()
}

#[derive(Debug, Clone)]
enum Step {
    Put(u8, u8),
    Take(u8, u8),
    TakeAllOf(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let one = prop_oneof![
        4 => (0..4_u8, 0..4_u8).prop_map(|(call, question)| Step::Put(call, question)),
        2 => (0..4_u8, 0..4_u8).prop_map(|(call, question)| Step::Take(call, question)),
        1 => (0..4_u8).prop_map(Step::TakeAllOf),
    ];
    proptest::collection::vec(one, 0..40)
}

fn ids<'a>(requests: impl Iterator<Item = &'a PermissionRequest>) -> Vec<RequestId> {
    requests.map(|request| request.id.clone()).collect()
}

proptest! {
    /// The same as a list in which everything is looked for.
    #[test]
    fn questions_stay_in_the_order_in_which_they_were_put(steps in steps()) {
        let (mut open, mut list) = (Open::default(), Vec::<PermissionRequest>::new());
        for step in steps {
            match step {
                Step::Put(call, question) => {
                    let request = request(call, question);
                    open.put(request.clone());
                    if !list.iter().any(|one| one.id == request.id) {
                        list.push(request);
                    }
                }
                Step::Take(call, question) => {
                    let id = request(call, question).id;
                    let at = list.iter().position(|one| one.id == id);
                    prop_assert_eq!(open.take(&id), at.map(|at| list.remove(at)));
                }
                Step::TakeAllOf(call) => {
                    let call = format!("call_{call}");
                    let gone = list.extract_if(.., |one| started_by(&one.id) == Some(&call));
                    let gone: Vec<_> = gone.collect();
                    prop_assert_eq!(open.take_all_of(&call).collect::<Vec<_>>(), gone);
                    prop_assert!(!open.is_asking(&call));
                }
            }
            prop_assert_eq!(ids(open.after(None)), ids(list.iter()));
            for (at, one) in list.iter().enumerate() {
                let after = open.after(open.place(&one.id));
                prop_assert_eq!(ids(after), ids(list[at + 1..].iter()));
            }
        }
        // Nothing is kept of what is gone.
        prop_assert_eq!(open.requests.len(), list.len());
        prop_assert_eq!(open.places.values().map(BTreeMap::len).sum::<usize>(), list.len());
        prop_assert!(open.places.values().all(|places| !places.is_empty()));
    }
}
