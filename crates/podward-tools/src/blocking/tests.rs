use super::blocking;

#[tokio::test]
async fn work_that_panics_is_a_failed_call() {
    let output = blocking(|| panic!("as a test")).await;
    assert!(output.is_error);
    assert!(output.content.contains("failed inside podward"));
}
