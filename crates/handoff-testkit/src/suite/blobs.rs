//! Put, kept, dropped, swept.

use std::time::Duration;

use bytes::Bytes;
use handoff_engine::store::{BlobRef, BlobWrite, NewBlob, StoreError, WriteSet};
use handoff_protocol::digest::Digest;

use super::{
    StoreFactory,
    bench::{Bench, blob, put, tenant},
};

const HOUR: Duration = Duration::from_secs(3600);

/// The sweep takes what was put long ago and never kept, says how much, and leaves everything else.
pub async fn a_kept_blob_outlives_the_sweep(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let kept = put_blob(&bench, "owner", b"kept").await;
    let (old, older) = (put_blob(&bench, "owner", b"old").await, put_blob(&bench, "owner", b"older").await);
    assert_eq!(kept, BlobRef { owner: "owner".to_owned(), digest: Digest::of("kept") }, "a reference is the digest");
    write(&bench, [BlobWrite::Keep(kept.clone())]).await;
    assert_eq!(sweep(&bench).await, 0, "nothing is an hour old");
    bench.advance(7200);
    let young = put_blob(&bench, "owner", b"young").await;
    assert_eq!(sweep(&bench).await, 2, "two were never kept");
    assert_eq!(sweep(&bench).await, 0, "what is swept is gone");
    for (blob, expected) in [(&kept, Some("kept")), (&young, Some("young")), (&old, None), (&older, None)] {
        assert_eq!(read(&bench, blob).await.as_deref(), expected.map(str::as_bytes));
    }
    write(&bench, [BlobWrite::Drop(kept.clone()), BlobWrite::Drop(old)]).await;
    assert_eq!(read(&bench, &kept).await, None, "a dropped blob is gone, and dropping one that is absent is accepted");
}

/// Putting the same bytes again restarts their time, and does not undo that they are kept.
pub async fn a_blob_put_again_is_young_again_and_stays_kept(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let (kept, unkept) = (put_blob(&bench, "owner", b"kept").await, put_blob(&bench, "owner", b"unkept").await);
    write(&bench, [BlobWrite::Keep(kept.clone())]).await;
    bench.advance(3000);
    put_blob(&bench, "owner", b"kept").await;
    put_blob(&bench, "owner", b"unkept").await;
    bench.advance(3000);
    assert_eq!(sweep(&bench).await, 0, "it was put again less than an hour ago");
    bench.advance(3000);
    assert_eq!(sweep(&bench).await, 1);
    assert!(read(&bench, &kept).await.is_some(), "what is kept stays kept");
    assert_eq!(read(&bench, &unkept).await, None);

    // Once dropped it is as if it had never been.
    write(&bench, [BlobWrite::Drop(kept.clone())]).await;
    put_blob(&bench, "owner", b"kept").await;
    bench.advance(7200);
    assert_eq!(sweep(&bench).await, 1);
}

/// Equal bytes of two owners are two blobs.
pub async fn blobs_of_two_owners_are_apart(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let (one, two) = (put_blob(&bench, "one", b"same").await, put_blob(&bench, "two", b"same").await);
    assert_eq!(one.digest, two.digest);
    let third = BlobRef { owner: "three".to_owned(), digest: one.digest };
    assert_eq!(read(&bench, &third).await, None, "a blob is read under its owner only");
    write(&bench, [BlobWrite::Keep(one.clone())]).await;
    bench.advance(7200);
    assert_eq!(sweep(&bench).await, 1, "keeping one does not keep the other");
    assert!(read(&bench, &one).await.is_some());
    put_blob(&bench, "two", b"same").await;
    write(&bench, [BlobWrite::Keep(two.clone())]).await;
    write(&bench, [BlobWrite::Drop(one.clone())]).await;
    assert_eq!(read(&bench, &one).await, None);
    assert!(read(&bench, &two).await.is_some(), "dropping one leaves the other");
}

/// A commit can carry its content, new or put before, and keeps it.
pub async fn a_blob_stored_by_a_commit_is_kept(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let before = put_blob(&bench, "owner", b"before").await;
    let store = |bytes| BlobWrite::Store { owner: "owner".to_owned(), bytes };
    let fresh = BlobRef { owner: "owner".to_owned(), digest: Digest::of("fresh") };
    write(&bench, [store("fresh".into()), store("before".into()), BlobWrite::Keep(fresh.clone())]).await;
    write(&bench, [store("fresh".into())]).await;
    bench.advance(7200);
    assert_eq!(sweep(&bench).await, 0);
    for (blob, content) in [(before, "before"), (fresh, "fresh")] {
        assert_eq!(read(&bench, &blob).await.as_deref(), Some(content.as_bytes()));
    }
}

/// Keeping what was swept conflicts, and the write it belongs to leaves nothing.
pub async fn a_swept_blob_cannot_be_kept(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let swept = put_blob(&bench, "owner", b"late").await;
    bench.advance(7200);
    assert_eq!(sweep(&bench).await, 1);
    let set = WriteSet {
        records: vec![put("one", None, "text")],
        blobs: vec![BlobWrite::Keep(swept.clone())],
        ..WriteSet::default()
    };
    let refused = bench.refusal(set.clone()).await;
    assert!(matches!(refused, StoreError::Conflict(_)), "a blob that is gone conflicts: {refused:?}");
    assert_eq!(bench.record("one").await, None);
    put_blob(&bench, "owner", b"late").await;
    bench.commit(set).await;
}

/// Blobs are bytes: none, any, many.
pub async fn any_content_is_kept(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let every_byte: Bytes = (0..=255).collect::<Vec<u8>>().into();
    let large: Bytes = every_byte.repeat(8192).into();
    for bytes in [Bytes::new(), every_byte, large] {
        let new = NewBlob { tenant: tenant(1), owner: "owner".to_owned(), bytes: bytes.clone() };
        let blob = bench.store.put_blob(new).await.expect("a blob is put");
        assert_eq!(blob.digest, Digest::of(&bytes));
        assert!(read(&bench, &blob).await.is_some_and(|found| found == bytes), "content comes back as it was put");
    }
}

async fn put_blob(bench: &Bench, owner: &str, bytes: &'static [u8]) -> BlobRef {
    bench.store.put_blob(blob(tenant(1), owner, bytes)).await.expect("a blob is put")
}

async fn read(bench: &Bench, blob: &BlobRef) -> Option<Bytes> {
    bench.store.get_blob(&tenant(1), blob).await.expect("a blob is read")
}

async fn sweep(bench: &Bench) -> u64 {
    bench.store.sweep_blobs(HOUR).await.expect("blobs are swept")
}

async fn write(bench: &Bench, blobs: impl IntoIterator<Item = BlobWrite>) {
    bench.commit(WriteSet { blobs: blobs.into_iter().collect(), ..WriteSet::default() }).await;
}
