//! What the write path and the engines cannot be.

use expect_test::expect;

use super::{COMPLETE, check, check_scales, check_sets};

#[test]
fn what_a_write_path_cannot_be() {
    check_sets(
        &[
            &["flush.lru=cleaner"],
            &["flush.lru=cleaner", "flush.background=none"],
            &["redo.file_size=640KiB"],
            &["engine.kind=change-buffer", "change_buffer.page_overhead=9KiB"],
            &["engine.kind=change-buffer", "change_buffer.entry_column=0B"],
        ],
        &expect![[r#"
            --set: flush.lru = cleaner: needs flush.background = "cleaner": nobody else would come
            --set: flush.lru = cleaner: needs flush.background = "cleaner": nobody else would come
            --set: redo.file_size = 640KiB: leaves 129.6 KiB between the last checkpoint and the end of the redo log; changes need 1 MiB
            --set: change_buffer.page_overhead = 9KiB: at least half of a page of 16 KiB must be left for records
            --set: change_buffer.entry_column = 0B: out of range; expected a size from 1B to 256B, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
        "#]],
    );
    check(
        COMPLETE,
        &["report.every_rows=10_000"],
        Some("1/8"),
        &expect![[r#"
            --scale: 1/8: leaves 876.8 KiB between the last checkpoint and the end of the redo log; changes need 1 MiB; the smallest scale of this scenario is 1/4
        "#]],
    );
}

#[test]
fn what_a_fractal_tree_cannot_be() {
    check_sets(
        &[
            &["engine.kind=fractal", "engine.fractal.node_size=32KiB"],
            &["engine.kind=fractal", "engine.fractal.node_size=4MiB", "pool.size=8MiB"],
            &["engine.kind=fractal", "engine.fractal.wait_above=105%"],
            &[
                "engine.kind=fractal",
                "engine.fractal.node_size=4KiB",
                "engine.fractal.basement_size=4KiB",
                "engine.fractal.size.message=2KiB",
            ],
            &["engine.kind=fractal", "workload.rows=2_000_000_000"],
            &["engine.kind=fractal", "engine.fractal.promotion=eagre"],
            &["engine.fractal.fanout=8"],
            &["engine.kind=fractal", "workload.only_index=pdc", "workload.queries.kind=market"],
            &["engine.kind=fractal", "workload.only_index=pdc", "workload.secondary_indexes=1"],
            &["workload.only_index=pdc"],
            &["workload.price_bytes=8"],
            &["engine.kind=fractal", "engine.fractal.checkpoint_rows=5", "statement.bulk_rows=100"],
            &["engine.kind=fractal", "workload.queries.kind=pdc", "workload.queries.cold=true"],
        ],
        &expect![[r#"
            s4.toml: engine.fractal.basement_size = 64KiB: a basement is a part of a leaf, which has 32 KiB
            --set: pool.size = 8MiB: is less than a node of 4 MiB for each of 4 indexes, which a row needs at once
            --set: engine.fractal.wait_above = 105%: clients wait above the shares at which eviction begins and they go on
            --set: engine.fractal.node_size = 4KiB: a node must have room for four entries of index PRIMARY
            --set: workload.rows = 2_000_000_000: a fractal tree numbers 1_073_741_824 rows at most
            --set: engine.fractal.promotion = eagre: unknown choice (did you mean eager?); expected one of root, eager, flow
            --set: engine.fractal.fanout = 8: has no effect: it belongs to engine.kind = "fractal", and this one is "btree"
            --set: workload.queries.kind = market: is not workload.only_index, and there is no other index
            --set: workload.secondary_indexes = 1: has no effect: it belongs to workload.only_index = "none", and this one is "pdc"
            --set: workload.only_index = pdc: has no effect: it belongs to engine.kind = "fractal", and this one is "btree"
            --set: workload.price_bytes = 8: has no effect: it belongs to engine.kind = "fractal", and this one is "btree"
            --set: engine.fractal.checkpoint_rows = 5: a statement that sorts its rows (statement.bulk_rows) has no place for one
            --set: workload.queries.cold = true: has no effect: it belongs to workload.queries.after_load other than 0, and by default it is 0
        "#]],
    );
    check_scales(
        "s2-fractal-window",
        &["1/32"],
        &expect![[r#"
            --scale: 1/32: nodes of 4 MiB do not shrink; the cache would hold 64 of them, and 128 are needed; the smallest scale of this scenario is 1/16
        "#]],
    );
}
