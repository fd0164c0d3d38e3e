use pretty_assertions::assert_eq;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn progress_gives_back_the_time_and_not_the_cap() {
    let mut clock = Deadline::new(Limits { idle: SECOND * 4, total: SECOND * 6 });
    let began = Instant::now();
    tokio::time::advance(SECOND * 3).await;
    clock.progressed(began, false);
    assert_eq!((clock.left(), clock.limit()), (SECOND * 3, SECOND * 6));
    let began = Instant::now();
    tokio::time::advance(SECOND * 2).await;
    clock.spend(began, false);
    assert_eq!((clock.left(), clock.limit()), (SECOND, SECOND * 6));
}

#[tokio::test(start_paused = true)]
async fn no_time_runs_while_a_question_is_open() {
    let mut clock = Deadline::new(Limits::fixed(SECOND));
    let began = Instant::now();
    tokio::time::advance(SECOND * 100).await;
    clock.spend(began, true);
    assert_eq!((clock.left(), clock.limit()), (SECOND, SECOND));
}
