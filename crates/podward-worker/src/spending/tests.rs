use super::*;

const fn steps(steps: u32) -> Spent {
    Spent {
        steps,
        usage: Usage {
            input_tokens: 0,
            output_tokens: 0,
        },
        calls: CallCount {
            made: 0,
            refused: 0,
        },
    }
}

#[tokio::test]
async fn what_several_calls_spend_together_is_held_to_what_is_left() {
    let spending = Spending::default();
    spending.allow(4);
    let (mut one, mut other) = (spending.meter(), spending.meter());
    one.read(steps(2));
    other.read(steps(1));
    // Told once more, and no more than before.
    other.read(steps(1));
    assert_eq!(spending.steps_left(), Some(1));
    other.read(steps(2));
    assert_eq!(spending.steps_left(), Some(0));
    let over = tokio::spawn({
        let spending = spending.clone();
        async move { spending.overdrawn().await }
    });
    tokio::task::yield_now().await;
    assert!(!over.is_finished(), "what was left may be spent");
    one.read(steps(3));
    over.await.unwrap();
    assert_eq!(spending.take(), steps(5));
    assert_eq!(spending.take(), steps(0));
}
