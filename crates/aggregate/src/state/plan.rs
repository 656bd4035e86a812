//! Plans: which bytes of which objects each task reads. Large objects are cut, small ones packed.

/// What a task reads of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which of the objects.
    pub object: usize,
    /// The first byte, and one behind the last.
    pub range: [u64; 2],
}

/// Tasks of about `task_bytes` bytes each, which cover every byte of every object once, in order. Of an
/// object its size in bytes is told, and whether it can be cut.
pub fn plan(objects: &[(u64, bool)], task_bytes: u64) -> Vec<Vec<Piece>> {
    let task_bytes = task_bytes.max(1);
    let (mut tasks, mut pack, mut packed_bytes) = (Vec::new(), Vec::new(), 0_u64);
    for (object, &(size, can_be_cut)) in objects.iter().enumerate() {
        let pieces = if can_be_cut { size.div_ceil(task_bytes).max(1) } else { 1 };
        let cut = |at: u64| (u128::from(size) * u128::from(at) / u128::from(pieces)) as u64;
        if pieces > 1 || packed_bytes + size > task_bytes {
            tasks.extend((!pack.is_empty()).then(|| std::mem::take(&mut pack)));
            packed_bytes = 0;
        }
        if pieces == 1 {
            pack.push(Piece { object, range: [0, size] });
            packed_bytes += size;
        } else {
            let piece = |at| vec![Piece { object, range: [cut(at), cut(at + 1)] }];
            tasks.extend((0..pieces).map(piece));
        }
    }
    tasks.extend((!pack.is_empty()).then_some(pack));
    tasks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn large_objects_are_cut_and_small_ones_packed() {
        let shown: Vec<String> =
            plan(&[(30, true), (50, true), (60, true), (250, true), (300, false), (0, true)], 100)
                .iter()
                .map(|task| {
                    let piece = |p: &Piece| format!("{}:{}..{}", p.object, p.range[0], p.range[1]);
                    task.iter().map(piece).collect::<Vec<_>>().join(" ")
                })
                .collect();
        let expected = [
            "0:0..30 1:0..50", "2:0..60", "3:0..83", "3:83..166", "3:166..250", "4:0..300",
            "5:0..0",
        ];
        assert_eq!(shown, expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_byte_is_read_once_in_tasks_of_no_more_than_was_asked(
            objects in prop::collection::vec((0..1000_u64, any::<bool>()), 0..30),
            task_bytes in 1..500_u64,
        ) {
            let tasks = plan(&objects, task_bytes);
            let mut pieces = tasks.iter().flatten();
            for (object, &(size, _)) in objects.iter().enumerate() {
                let mut at = 0;
                loop {
                    let piece = pieces.next().unwrap();
                    prop_assert_eq!((piece.object, piece.range[0]), (object, at));
                    at = piece.range[1];
                    if at == size { break; }
                }
            }
            prop_assert!(pieces.next().is_none());
            for task in tasks {
                let bytes: u64 = task.iter().map(|piece| piece.range[1] - piece.range[0]).sum();
                let whole = task.len() == 1 && !objects[task[0].object].1;
                prop_assert!(bytes <= task_bytes || whole);
            }
        }
    }
}
