//! One line per store.

/// Expands to one plain test per case of the suite, over the fixture named.
///
/// The crate that uses it needs tokio with `macros` and `rt` among its dev-dependencies.
#[macro_export]
macro_rules! store_suite {
    ($fixture:ty) => {
        $crate::store_suite!(@each $fixture:
            s01_begin_is_once_per_id,
            s02_of_racing_tasks_exactly_one_inserts,
            s03_a_known_id_is_found_under_a_halt,
            s04_a_halt_refuses_new_risk_in_its_scope,
            s05_doubt_refuses_new_risk_in_its_symbol,
            s06_doubt_is_seen_after_a_restart,
            s07_an_exit_passes,
            s08_an_entry_despite_a_halt_is_journaled,
            s09_a_change_of_an_unknown_order_is_refused,
            s10_a_stale_version_writes_nothing,
            s11_an_illegal_step_writes_nothing,
            s12_a_change_commits_all_its_parts,
            s13_a_fill_is_booked_once,
            s14_an_exec_id_alone_is_no_fill,
            s15_of_racing_changes_exactly_one_wins,
            s16_unless_halted_is_tested_in_the_commit,
            s17_an_amend_is_kept_with_its_fate,
            s18_a_further_attempt_ends_no_doubt,
            s20_every_attempt_reads_back,
            s21_unfinished_rows_are_open_owed_or_watched,
            s22_a_finished_row_is_found_everywhere,
            s23_every_key_finds_its_order,
            s24_history_is_complete_and_ordered,
            s25_orders_are_listed_by_filter,
            s26_a_finished_row_can_come_back,
            s27_an_empty_journal_holds_nothing,
            s30_a_halt_stands_until_lifted,
            s31_one_halt_is_lifted_by_its_cause,
            s32_who_lifted_and_why_is_kept,
            s33_a_halt_is_durable_once_told,
            s40_no_number_is_reserved_twice,
            s41_racing_tasks_get_different_numbers,
            s42_an_alias_keeps_its_account,
            s43_a_cursor_never_goes_back,
            s44_the_epoch_of_a_lease_only_grows,
            s45_made_at_stays,
            s50_a_sync_makes_everything_before_it_durable,
            s51_without_a_sync_lazy_commits_are_lost,
            s52_a_sync_change_is_not_lost,
            s53_a_power_cut_takes_a_suffix,
            s54_a_crash_loses_nothing,
            s55_a_closed_store_takes_nothing,
            s56_a_reopened_journal_is_the_same,
            s57_a_crash_leaves_lazy_commits_at_stake,
        );
    };
    (@each $fixture:ty: $($case:ident),+ $(,)?) => {
        $(
            #[tokio::test]
            async fn $case() {
                $crate::store::cases::$case::<$fixture>().await;
            }
        )+
    };
}
