//! The suite can fail: each planted flaw is caught by the behaviour that forbids it.

mod altered;
mod flawed;

use std::panic::{AssertUnwindSafe, catch_unwind};

use handoff_testkit::suite;

use self::flawed::{Broken, Flaw};

/// The wrapper adds no flaw of its own: without one it passes the whole suite.
mod without_a_flaw {
    use super::{Broken, Flaw};

    handoff_testkit::store_suite!(Broken::with(Flaw::Nothing));
}

/// How often a behaviour may run against a flaw until it notices.
const TRIES: usize = 5;

/// One test a line: a store with this flaw fails this behaviour.
macro_rules! caught {
    ($($flaw:ident, $name:ident: $group:ident::$behaviour:ident;)*) => {
        $(
            #[test]
            fn $name() {
                // A flaw that only a race brings out may hide from one run.
                let caught = (0..TRIES).any(|_| {
                    let broken = Broken::with(Flaw::$flaw);
                    let run = || suite::run(suite::$group::$behaviour(&broken));
                    catch_unwind(AssertUnwindSafe(run)).is_err()
                });
                assert!(caught, "the flaw {:?} was not noticed", Flaw::$flaw);
            }
        )*
    };
}

caught! {
    WritesRecordsOfRefusedSets, a_half_written_set_is_caught: atomic::a_broken_chain_leaves_nothing;
    WritesRecordsOfRefusedSets, a_half_written_set_beside_a_stale_timer_is_caught: atomic::a_stale_timer_leaves_nothing;
    WritesRecordsOfRefusedSets, a_half_written_set_beside_a_blob_is_caught: atomic::a_missing_blob_leaves_nothing;
    WritesEventsOfRefusedSets, an_event_of_a_refused_set_is_caught: atomic::a_wrong_version_leaves_nothing;
    TidiesDocuments, a_tidied_document_is_caught: documents::texts_are_kept_byte_for_byte;
    CutsDocuments, a_cut_document_is_caught: documents::a_document_of_a_megabyte_is_kept;
    FoldsIds, ids_folded_together_are_caught: documents::long_and_foreign_ids_are_kept_apart;
    LastWriterWins, an_overwritten_winner_is_caught: versions::first_writer_wins;
    LastWriterWins, two_successful_inserts_are_caught: versions::of_many_blind_inserts_one_succeeds;
    RunsStepsOutsideTheLock, two_reading_inserts_are_caught: versions::of_many_reading_inserts_one_succeeds;
    RunsStepsOutsideTheLock, a_lost_update_is_caught: versions::no_update_is_lost;
    RunsStepsOutsideTheLock, a_forked_chain_is_caught: chains::many_writers_make_no_gap_and_no_fork;
    RunsStepsOutsideTheLock, a_need_outside_the_lock_is_caught: steps::what_a_step_needs_is_loaded_under_the_same_lock;
    BlanksInsteadOfDeleting, a_deleted_record_that_stays_is_caught:
        versions::versions_rise_by_one_and_begin_again_after_a_delete;
    IgnoresPreviousDigests, a_broken_link_is_caught: chains::an_entry_must_continue_the_head;
    ReadsOneEntryTooMany, a_range_too_long_is_caught: chains::entries_are_read_by_height;
    KeepsErasedBodies, a_body_that_stays_is_caught: chains::an_erased_body_is_gone_and_its_entry_stays;
    RefusesASecondErasure, a_refused_second_erasure_is_caught: chains::erasing_twice_is_harmless;
    LosesEvents, a_lost_event_is_caught: events::events_are_numbered_and_timed_by_their_commit;
    LosesEvents, a_reader_without_an_event_is_caught: events::readers_that_tail_skip_nothing;
    ShowsEventsOutOfOrder, a_reader_with_events_out_of_order_is_caught: events::readers_that_tail_skip_nothing;
    ShowsEventsOutOfOrder, events_out_of_commit_order_are_caught: events::event_order_is_commit_order;
    ForgetsToUnindex, a_stale_row_is_caught: scans::rows_move_and_go_with_their_record;
    ForgetsToUnindex, a_stale_row_is_caught_by_the_model: model::records_and_index_agree_with_a_naive_model;
    NeverSaysMore, a_page_that_hides_more_is_caught: scans::pages_follow_prefix_position_order_and_limit;
    ScansUpwardOnly, an_unsorted_page_is_caught: scans::sort_keys_are_compared_bytewise;
    SkipsARowOfEachPage, an_unstable_page_is_caught: scans::pages_stay_stable_under_writes;
    RunsStepsOutsideTheLock, what_no_order_comes_to_is_caught: serial::what_comes_at_once_is_some_serial_order;
    LastWriterWins, a_conflict_that_is_none_is_caught: serial::what_comes_at_once_is_some_serial_order;
    ForgetsToUnindex, a_row_of_no_order_is_caught: serial::what_comes_at_once_is_some_serial_order;
    LoadsAbsentAsUnasked, an_absent_record_that_is_not_loaded_is_caught: steps::a_step_tells_absent_from_not_loaded;
    NeverCutsOff, an_endless_step_is_caught: steps::a_step_that_keeps_asking_is_cut_off;
    CountsRejects, a_reject_that_costs_a_sequence_is_caught: steps::a_reject_writes_nothing;
    DiesOfPanics, a_store_that_dies_of_a_panic_is_caught: steps::a_panicking_step_is_its_own_refusal;
    DrawsOneSeed, a_seed_drawn_twice_is_caught: steps::each_run_sees_the_stores_time_and_fresh_entropy;
    RunsFast, a_clock_of_its_own_is_caught: steps::each_run_sees_the_stores_time_and_fresh_entropy;
    LowersTheLastId, a_falling_id_is_caught: steps::the_last_id_never_falls;
    RunsFast, an_early_timer_is_caught: timers::timers_are_claimed_when_due_and_not_before;
    ClaimsBackward, an_order_of_claims_is_caught: timers::the_longest_overdue_come_first_over_all_tenants;
    NeverSaysNext, a_forgotten_next_is_caught: timers::next_says_when_to_look_again;
    NeverRemovesTimers, a_timer_that_stays_is_caught: timers::a_removed_timer_is_never_claimed;
    ReusesEpochs, an_epoch_that_comes_back_is_caught: claims::epochs_rise_across_removal_and_a_new_put;
    SettlesAnyEpoch, a_late_settle_is_caught: claims::a_lapsed_lease_is_claimed_again_under_a_higher_epoch;
    SettlesAnyEpoch, a_settle_without_a_claim_is_caught: claims::a_timer_that_is_not_held_cannot_be_settled;
    SettlesAnyEpoch, a_claim_that_outlives_a_put_is_caught: claims::a_put_ends_a_claim;
    ClaimsWithoutLease, a_timer_held_twice_is_caught: claims::concurrent_claimers_never_share_a_timer;
    SettlesAnyEpoch, a_stale_settle_is_caught: atomic::a_stale_timer_leaves_nothing;
    DropsTimerPuts, a_timer_that_is_not_set_again_is_caught: timers::a_timer_is_settled_and_set_again_in_one_write;
    ForgetsToKeepBlobs, a_kept_blob_that_is_swept_is_caught: blobs::a_kept_blob_outlives_the_sweep;
    NeverSweeps, a_sweep_that_does_nothing_is_caught: blobs::a_kept_blob_outlives_the_sweep;
    SharesBlobs, a_blob_of_another_owner_is_caught: blobs::blobs_of_two_owners_are_apart;
    DropsStoredBlobs, a_blob_missing_from_its_commit_is_caught: blobs::a_blob_stored_by_a_commit_is_kept;
    KeepsAnything, a_blob_kept_after_its_sweep_is_caught: blobs::a_swept_blob_cannot_be_kept;
    NeverRenewsBlobs, a_blob_swept_too_early_is_caught: blobs::a_blob_put_again_is_young_again_and_stays_kept;
    CutsBlobs, a_cut_blob_is_caught: blobs::any_content_is_kept;
    SharesRecords, a_record_that_leaks_is_caught: tenants::nothing_shows_in_another_tenant;
    SharesIndexes, a_row_that_leaks_is_caught: tenants::nothing_shows_in_another_tenant;
    SharesEvents, an_event_that_leaks_is_caught: tenants::nothing_shows_in_another_tenant;
    SharesChains, a_chain_that_leaks_is_caught: tenants::nothing_shows_in_another_tenant;
    SharesBlobsOfTenants, a_blob_that_leaks_is_caught: tenants::nothing_shows_in_another_tenant;
    SharesEverything, tenants_in_one_are_caught: tenants::the_same_names_live_apart_in_two_tenants;
    DropsWakes, a_lost_wake_is_caught: wakes::a_commit_wakes_its_topics;
    HidesMissedWakes, a_hidden_miss_is_caught: wakes::a_lagging_subscriber_learns_that_it_missed_some;
    WakesOneHandle, a_handle_that_is_not_woken_is_caught: wakes::a_second_handle_sees_commits_and_wakes;
    ForgetsAtReopening, a_forgetful_store_is_caught: durability::acknowledged_writes_survive_reopening;
    ForgetsAtReopening, a_forgotten_epoch_is_caught: durability::heads_and_epochs_go_on_after_reopening;
    RunsStepsOutsideTheLock, a_lock_of_its_own_is_caught: wakes::two_handles_write_serially;
}
