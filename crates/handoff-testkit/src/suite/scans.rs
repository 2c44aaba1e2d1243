//! Pages of an index.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use handoff_engine::store::{
    IndexName, IndexRead, IndexRow, IndexScan, Order, Reads, RecordWrite, Step, Transacted, WriteSet,
};

use super::{
    StoreFactory,
    bench::{Bench, Dice, INDEX, commit, insert_at, key, load, records, row, scan_all, tenant, transact},
};

/// Prefix, position, order and limit together choose the rows of a page, and `more` says whether others follow.
pub async fn pages_follow_prefix_position_order_and_limit(factory: &dyn StoreFactory) {
    use Order::{Ascending, Descending};

    let bench = Bench::new(factory).await;
    let all = ["a/1", "a/2", "a/3", "b", "b/1", "c/1"];
    bench.commit(records(all.map(|sort_key| insert_at(sort_key, sort_key, sort_key)))).await;
    for other in ["thing.by", "thing.by_key2", "thing"] {
        let index = vec![IndexRow { index: IndexName::from_static(other), sort_key: b"a/9".to_vec() }];
        let document = "other".into();
        let write = RecordWrite::Put { key: key(other), seen: None, document, unindex: vec![], index };
        bench.commit(records([write])).await;
    }

    for (prefix, after, order, limit, expected, more) in [
        ("", None, Ascending, 10, &all[..], false),
        ("", None, Ascending, 6, &all[..], false),
        ("", None, Ascending, 5, &all[..5], true),
        ("", None, Descending, 2, &["c/1", "b/1"][..], true),
        ("a/", None, Ascending, 10, &["a/1", "a/2", "a/3"], false),
        ("a/", None, Ascending, 2, &["a/1", "a/2"], true),
        ("a/", Some("a/1"), Ascending, 2, &["a/2", "a/3"], false),
        ("a/", Some("a/15"), Ascending, 1, &["a/2"], true),
        ("a/", Some("a/3"), Ascending, 1, &[], false),
        ("a/", Some("b"), Ascending, 9, &[], false),
        ("b", Some("a/1"), Ascending, 9, &["b", "b/1"], false),
        ("b", None, Descending, 1, &["b/1"], true),
        ("a/", Some("a/3"), Descending, 9, &["a/2", "a/1"], false),
        ("a/", Some("a/3"), Descending, 1, &["a/2"], true),
        ("a/", Some("a/1"), Descending, 9, &[], false),
        ("a/", Some("c"), Descending, 9, &["a/3", "a/2", "a/1"], false),
        ("d", None, Descending, 9, &[], false),
    ] {
        let scan = IndexScan {
            tenant: tenant(1),
            index: INDEX,
            prefix: prefix.into(),
            after: after.map(Into::into),
            order,
            limit,
        };
        let case = format!("{scan:?}");
        let page = bench.store.scan(scan).await.expect("an index is scanned");
        let documents: Vec<_> = page.rows.iter().map(|row| &*row.record.document).collect();
        assert_eq!(documents, expected, "{case}");
        assert_eq!(page.more, more, "whether more follow in {case}");
        for row in page.rows {
            assert_eq!(row.sort_key, row.record.document.as_bytes(), "a row with its own record");
        }
        if (after, order) == (None, Ascending) {
            let read = IndexRead { index: INDEX, prefix: prefix.into(), limit };
            let loaded = load(&bench.store, tenant(1), Reads::none().index(read.clone())).await;
            let rows = loaded.index(&read).expect("the index read is loaded");
            let documents: Vec<_> = rows.iter().map(|row| &*row.record.document).collect();
            assert_eq!(documents, expected, "a step is given the same rows as {case}");
        }
    }
}

/// Sort keys and prefixes are bytes, of any value and length, not text.
pub async fn sort_keys_are_compared_bytewise(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let sorted: [&[u8]; 13] = [
        b"",
        &[0],
        &[0, 0],
        &[0, 255],
        &[1],
        b"Z",
        b"a",
        "ä".as_bytes(),
        &[254, 255],
        &[255],
        &[255, 0],
        &[255, 255],
        &[255; 300],
    ];
    let shuffled = [7, 2, 12, 0, 10, 5, 1, 11, 3, 9, 6, 4, 8];
    bench.commit(records(shuffled.map(|at| insert_at(&at.to_string(), sorted[at], &at.to_string())))).await;

    let rows = scan_all(&bench.store, tenant(1), Order::Ascending, 3).await.rows;
    assert_eq!(rows.iter().map(|row| row.sort_key.as_slice()).collect::<Vec<_>>(), sorted);
    let rows = scan_all(&bench.store, tenant(1), Order::Descending, 4).await.rows;
    assert_eq!(rows.iter().rev().map(|row| row.sort_key.as_slice()).collect::<Vec<_>>(), sorted);

    for (prefix, order, expected) in [
        (&[0][..], Order::Ascending, &sorted[1..4]),
        (&[255], Order::Ascending, &sorted[9..]),
        (&[255, 255], Order::Descending, &[sorted[12], sorted[11]]),
        (&[0, 255], Order::Descending, &sorted[3..4]),
    ] {
        let scan =
            IndexScan { tenant: tenant(1), index: INDEX, prefix: prefix.to_vec(), after: None, order, limit: 20 };
        let page = bench.store.scan(scan).await.expect("an index is scanned");
        let found: Vec<_> = page.rows.iter().map(|row| row.sort_key.as_slice()).collect();
        assert_eq!(found, expected, "under the prefix {prefix:?}");
    }
}

/// A write moves its rows, and a delete takes them along.
pub async fn rows_move_and_go_with_their_record(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    bench.commit(records([insert_at("one", "here", "first")])).await;
    let moved = RecordWrite::Put {
        key: key("one"),
        seen: Some(1),
        document: "second".into(),
        unindex: vec![row("here")],
        index: vec![row("there"), row("everywhere")],
    };
    bench.commit(records([moved])).await;
    let rows = scan_all(&bench.store, tenant(1), Order::Ascending, 10).await.rows;
    let seen: Vec<_> = rows.iter().map(|row| (&row.sort_key[..], row.record.version)).collect();
    assert_eq!(seen, [(&b"everywhere"[..], 2), (b"there", 2)], "rows point to the record as it is now");

    // A row that is taken away and set in one write holds from then on.
    let again = RecordWrite::Put {
        key: key("one"),
        seen: Some(2),
        document: "third".into(),
        unindex: vec![row("there"), row("everywhere")],
        index: vec![row("there")],
    };
    bench.commit(records([again])).await;
    let rows = scan_all(&bench.store, tenant(1), Order::Ascending, 10).await.rows;
    let seen: Vec<_> = rows.iter().map(|row| (&row.sort_key[..], row.record.version)).collect();
    assert_eq!(seen, [(&b"there"[..], 3)]);

    bench.commit(records([RecordWrite::Delete { key: key("one"), seen: 3, unindex: vec![row("there")] }])).await;
    assert_eq!(scan_all(&bench.store, tenant(1), Order::Ascending, 10).await.rows, []);
}

/// Whoever pages while others write sees each row that stays exactly once, and each row agrees with its record.
pub async fn pages_stay_stable_under_writes(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let staying: Vec<_> = (0..60).map(|number| format!("{number:03}/stays")).collect();
    bench.commit(records(staying.iter().map(|sort_key| insert_at(sort_key, sort_key.as_str(), sort_key)))).await;

    let done = Arc::new(AtomicBool::new(false));
    let movers: Vec<_> = (0..4)
        .map(|mover| {
            let (store, done) = (Arc::clone(&bench.store), Arc::clone(&done));
            tokio::spawn(async move {
                let mut dice = Dice::new(mover);
                let mut at = format!("{:03}/moves/{mover}", 0);
                commit(&store, tenant(1), records([insert_at(&format!("mover {mover}"), at.as_str(), &at)])).await;
                while !done.load(Ordering::SeqCst) {
                    let next = format!("{:03}/moves/{mover}", dice.roll(60));
                    let (from, to) = (at.clone(), next.clone());
                    let id = format!("mover {mover}");
                    let outcome = transact(&store, tenant(1), Reads::none().record(key(&id)), move |loaded, _| {
                        let seen = loaded.record(&key(&id)).flatten().map(|record| record.version);
                        let (unindex, index) = (vec![row(from.as_str())], vec![row(to.as_str())]);
                        let write =
                            RecordWrite::Put { key: key(&id), seen, document: to.as_str().into(), unindex, index };
                        Step::Commit(Box::new(WriteSet { records: vec![write], ..WriteSet::default() }))
                    })
                    .await;
                    assert!(matches!(outcome, Ok(Transacted::Committed { .. })), "a move is committed: {outcome:?}");
                    at = next;
                    // A store in memory never waits, and this task must be stopped when the behaviour fails.
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();

    for round in 0..20 {
        let order = if round % 2 == 0 { Order::Ascending } else { Order::Descending };
        let mut rows = scan_all(&bench.store, tenant(1), order, 7).await.rows;
        for row in &rows {
            assert_eq!(row.sort_key, row.record.document.as_bytes(), "a row and its record are of one moment");
        }
        if order == Order::Descending {
            rows.reverse();
        }
        let stayed: Vec<_> =
            rows.iter().map(|row| &*row.record.document).filter(|row| row.ends_with("stays")).collect();
        assert_eq!(stayed, staying, "each row that stays is seen once");
    }
    done.store(true, Ordering::SeqCst);
    for mover in movers {
        mover.await.expect("a mover moves");
    }
}
