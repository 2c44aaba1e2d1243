//! The rules by themselves, without store and socket: canonical text, a digest, a signature and its verification, the
//! transition of an answer, and the verification of a chain.

mod scene;

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use handoff_protocol::{
    chain::{ChainVerifier, Head},
    decision::{Answer, answer},
    digest::Digest,
    json::read_str,
};

use crate::scene::{ANSWER, RAISE, Scene};

/// How many receipts the chain has.
const RECEIPTS: u64 = 200;

fn documents(criterion: &mut Criterion) {
    let Ok(document) = read_str(RAISE) else { return };
    criterion.bench_function("read a raise", |bencher| bencher.iter(|| read_str(black_box(RAISE))));
    criterion.bench_function("canonical text of a raise", |bencher| bencher.iter(|| black_box(&document).canonical()));
    criterion.bench_function("digest of a raise", |bencher| bencher.iter(|| Digest::of_json(black_box(&document))));
}

fn signatures(criterion: &mut Criterion) {
    let (key, digest) = (scene::key(), Digest::of("a receipt"));
    let (public, signature) = (key.public_key(), key.sign(&digest));
    criterion.bench_function("sign a receipt", |bencher| bencher.iter(|| key.sign(black_box(&digest))));
    criterion.bench_function("verify a signature", |bencher| {
        bencher.iter(|| public.verify(black_box(&digest), black_box(&signature)));
    });
}

fn transitions(criterion: &mut Criterion) {
    let scene = Scene::default();
    let Some((request, waiter)) = scene.raise() else { return };
    let person = scene::person();
    let Ok(command) = read_str(ANSWER).map_err(drop).and_then(|body| Answer::read(&person, body).map_err(drop)) else {
        return;
    };
    criterion.bench_function("the transition of a raise", |bencher| bencher.iter(|| black_box(scene.raise())));
    criterion.bench_function("the transition of an answer", |bencher| {
        bencher.iter_batched(
            || scene.mint(),
            |mut mint| {
                let mut context = scene.context(&mut mint);
                black_box(answer(&request, &command, &person, &waiter, &Head::GENESIS, &mut context).is_ok())
            },
            BatchSize::SmallInput,
        );
    });
}

fn chains(criterion: &mut Criterion) {
    let receipts = Scene::default().chain(RECEIPTS);
    let mut group = criterion.benchmark_group("chain");
    group.throughput(Throughput::Elements(RECEIPTS));
    group.bench_function("verify", |bencher| {
        bencher.iter(|| {
            let mut verifier = ChainVerifier::from_genesis();
            receipts.iter().for_each(|receipt| verifier.check(receipt));
            black_box(verifier.finish().is_sound())
        });
    });
    group.finish();
}

criterion_group!(benches, documents, signatures, transitions, chains);
criterion_main!(benches);
