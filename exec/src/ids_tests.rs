use pretty_assertions::assert_eq;

use super::*;

#[test]
fn sequential_ids_begin_at_1000() {
    let mut taken = BTreeSet::new();
    for expected in 1000..1003 {
        let id = IdSource::Sequential.next(&taken);
        assert_eq!(id, expected);
        taken.insert(id);
    }
    taken.remove(&1001);
    assert_eq!(IdSource::Sequential.next(&taken), 1003);
}

#[test]
fn random_ids_stay_in_their_range_and_differ() {
    let mut taken = BTreeSet::new();
    for _ in 0..2000 {
        let id = IdSource::Random.next(&taken);
        assert!((1000..100_000).contains(&id), "{id}");
        assert!(taken.insert(id), "{id} twice");
    }
}

#[test]
fn the_last_free_id_is_found() {
    let mut taken: BTreeSet<i32> = (FIRST_ID..ID_LIMIT).collect();
    taken.remove(&4711);
    assert_eq!(IdSource::Random.next(&taken), 4711);
}

#[test]
fn chunks_have_six_hex_digits() {
    let ids: BTreeSet<String> = (0..100).map(|_| chunk_id()).collect();
    assert!(ids.len() > 90, "{ids:?}");
    assert!(ids.iter().all(|id| id.len() == 6 && id.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'))));
}
