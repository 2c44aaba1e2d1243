//! The suite that every store must pass: one function a behaviour, each panicking where a store does not keep a promise
//! of [`Store`].
//!
//! Implement [`StoreFactory`], and let [`store_suite!`](crate::store_suite) make one test of each behaviour:
//!
//! ```
//! use std::sync::Arc;
//!
//! use handoff_engine::store::Store;
//! use handoff_testkit::{
//!     MemoryStore, async_trait,
//!     suite::{Ports, StoreFactory},
//! };
//!
//! struct InMemory;
//!
//! #[async_trait]
//! impl StoreFactory for InMemory {
//!     async fn fresh(&self, ports: Ports) -> Arc<dyn Store> {
//!         Arc::new(MemoryStore::new(ports.clock, ports.entropy))
//!     }
//! }
//!
//! handoff_testkit::store_suite!(InMemory);
//! # fn main() {}
//! ```
//!
//! | module | what must hold |
//! |---|---|
//! | [`atomic`] | a write-set is there as a whole or not at all |
//! | [`documents`] | text and names come back byte for byte |
//! | [`versions`] | first writer wins |
//! | [`chains`] | entries continue the head, and bodies can be erased |
//! | [`events`] | sequences have no gap, in the order of commits |
//! | [`scans`], [`model`] | pages of an index, and their agreement with the records |
//! | [`serial`] | what comes at once is as if it came in some order |
//! | [`steps`] | how a step is loaded, run, repeated and refused |
//! | [`timers`], [`claims`] | due times and claims; epochs that only rise |
//! | [`blobs`] | put, kept, dropped, swept |
//! | [`tenants`] | nothing of one tenant shows in another |
//! | [`moving`] | a store that can be moved is filled and handed out as a whole |
//! | [`wakes`] | commits wake, on other handles as well |
//! | [`durability`] | what was acknowledged outlives the store |
//! | [`inspecting`] | what a store that shows everything shows; apart from the macro |

#![expect(clippy::panic, clippy::expect_used, clippy::indexing_slicing, reason = "a suite of tests fails by panicking")]

pub mod atomic;
mod bench;
pub mod blobs;
pub mod chains;
pub mod claims;
pub mod documents;
pub mod durability;
pub mod events;
pub mod inspecting;
pub mod model;
pub mod moving;
pub mod scans;
pub mod serial;
pub mod steps;
pub mod tenants;
pub mod timers;
pub mod versions;
pub mod wakes;

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use handoff_engine::{clock::Clock, entropy::Entropy, store::Store};

/// How long a behaviour may take before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a store is built on.
#[derive(Clone)]
pub struct Ports {
    /// The clock that the store must go by.
    pub clock: Arc<dyn Clock>,
    /// The entropy that the store must draw from.
    pub entropy: Arc<dyn Entropy>,
}

/// Makes the stores that the suite runs on. Each behaviour is given a factory of its own and calls
/// [`fresh`](StoreFactory::fresh) once, so a factory can own the directory or the schema that its store lives in.
#[async_trait]
pub trait StoreFactory: Send + Sync {
    /// An empty store.
    async fn fresh(&self, ports: Ports) -> Arc<dyn Store>;

    /// Closes the store, whose only handle this is, and opens its data again, as a restarted process would. `None` for
    /// a store that keeps nothing beyond the process.
    async fn reopen(&self, _store: Arc<dyn Store>, _ports: Ports) -> Option<Arc<dyn Store>> {
        None
    }

    /// A second handle on the data of the fresh store, as another process would open it. `None` for a store that
    /// belongs to one process.
    async fn second(&self, _ports: Ports) -> Option<Arc<dyn Store>> {
        None
    }
}

/// Runs one behaviour on a multi-threaded runtime.
///
/// # Panics
///
/// When the behaviour fails, or takes longer than any store should.
pub fn run(behaviour: impl Future<Output = ()>) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().expect("a runtime starts");
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            assert!(tokio::time::timeout(PATIENCE, behaviour).await.is_ok(), "the behaviour hung for {PATIENCE:?}");
        });
    }));
    // A task that spins in a broken store would keep the runtime from ending, and the failure from being told.
    runtime.shutdown_timeout(Duration::from_secs(1));
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
}

/// Makes one `#[test]` of each behaviour of the suite. The expression makes a `StoreFactory`
/// and is evaluated anew in each test.
#[macro_export]
macro_rules! store_suite {
    ($factory:expr) => {
        $crate::store_suite! { @tests $factory;
            atomic: a_wrong_version_leaves_nothing;
            atomic: a_broken_chain_leaves_nothing;
            atomic: a_stale_timer_leaves_nothing;
            atomic: a_missing_blob_leaves_nothing;
            documents: texts_are_kept_byte_for_byte;
            documents: a_document_of_a_megabyte_is_kept;
            documents: long_and_foreign_ids_are_kept_apart;
            versions: versions_rise_by_one_and_begin_again_after_a_delete;
            versions: first_writer_wins;
            versions: of_many_blind_inserts_one_succeeds;
            versions: of_many_reading_inserts_one_succeeds;
            versions: no_update_is_lost;
            chains: an_entry_must_continue_the_head;
            chains: entries_are_read_by_height;
            chains: many_writers_make_no_gap_and_no_fork;
            chains: an_erased_body_is_gone_and_its_entry_stays;
            chains: erasing_twice_is_harmless;
            events: events_are_numbered_and_timed_by_their_commit;
            events: event_order_is_commit_order;
            events: readers_that_tail_skip_nothing;
            scans: pages_follow_prefix_position_order_and_limit;
            scans: sort_keys_are_compared_bytewise;
            scans: rows_move_and_go_with_their_record;
            scans: pages_stay_stable_under_writes;
            model: records_and_index_agree_with_a_naive_model;
            serial: what_comes_at_once_is_some_serial_order;
            steps: a_step_tells_absent_from_not_loaded;
            steps: what_a_step_needs_is_loaded_under_the_same_lock;
            steps: a_step_that_keeps_asking_is_cut_off;
            steps: a_reject_writes_nothing;
            steps: a_panicking_step_is_its_own_refusal;
            steps: each_run_sees_the_stores_time_and_fresh_entropy;
            steps: the_last_id_never_falls;
            timers: timers_are_claimed_when_due_and_not_before;
            timers: the_longest_overdue_come_first_over_all_tenants;
            timers: next_says_when_to_look_again;
            timers: a_removed_timer_is_never_claimed;
            timers: a_timer_is_settled_and_set_again_in_one_write;
            claims: a_lapsed_lease_is_claimed_again_under_a_higher_epoch;
            claims: a_timer_that_is_not_held_cannot_be_settled;
            claims: a_put_ends_a_claim;
            claims: epochs_rise_across_removal_and_a_new_put;
            claims: concurrent_claimers_never_share_a_timer;
            blobs: a_kept_blob_outlives_the_sweep;
            blobs: a_blob_put_again_is_young_again_and_stays_kept;
            blobs: blobs_of_two_owners_are_apart;
            blobs: a_blob_stored_by_a_commit_is_kept;
            blobs: a_swept_blob_cannot_be_kept;
            blobs: any_content_is_kept;
            tenants: nothing_shows_in_another_tenant;
            tenants: the_same_names_live_apart_in_two_tenants;
            moving: what_was_filled_in_is_served_and_handed_out_again;
            moving: a_store_with_anything_in_it_is_not_filled;
            moving: what_is_not_committed_leaves_nothing;
            wakes: a_commit_wakes_its_topics;
            wakes: a_lagging_subscriber_learns_that_it_missed_some;
            wakes: a_second_handle_sees_commits_and_wakes;
            wakes: two_handles_write_serially;
            durability: acknowledged_writes_survive_reopening;
            durability: heads_and_epochs_go_on_after_reopening;
        }
    };
    (@tests $factory:expr; $($group:ident: $behaviour:ident;)*) => {
        $(
            #[test]
            fn $behaviour() {
                let factory = $factory;
                $crate::suite::run($crate::suite::$group::$behaviour(&factory));
            }
        )*
    };
}
