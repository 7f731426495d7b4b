//! One line per venue.

/// Expands to one plain test per case of the suite, over the fixture named.
///
/// The crate that uses it needs tokio with `macros` and `rt` among its dev-dependencies.
#[macro_export]
macro_rules! venue_suite {
    ($fixture:ty) => {
        $crate::venue_suite!(@each $fixture:
            c01_an_order_arrives_as_it_was_meant,
            c02_a_lost_answer_is_unknown_not_rejected,
            c03_a_lost_request_is_unknown,
            c04_a_late_request_lands_after_the_client_gave_up,
            c05_a_refused_connect_is_not_sent,
            c06_a_5xx_before_acting_is_unknown,
            c07_a_5xx_after_acting_is_unknown,
            c08_an_unreadable_answer_is_unknown,
            c09_throttled_is_not_taken,
            c10_a_definite_refusal_is_rejected,
            c11_what_is_held_back_never_leaves,
            c12_a_price_off_the_tick_is_no_request,
            c13_a_request_is_built_alike_from_the_same_ticket,
            c14_wrong_keys_place_nothing,
            c20_a_duplicate_while_the_first_is_open,
            c21_a_duplicate_after_the_first_filled,
            c22_a_duplicate_after_the_first_was_canceled,
            c23_a_replay_of_the_same_bytes,
            c24_a_replay_after_the_first_filled,
            c25_a_request_doubled_on_the_way,
            c30_held_past_its_fence_it_never_lands,
            c31_held_within_its_fence_it_lands,
            c32_past_its_fence_it_is_not_sent,
            c33_the_fence_is_no_further_than_the_profile_says,
            c35_what_is_revoked_never_lands,
            c36_what_has_landed_is_used_not_revoked,
            c40_a_lookup_finds_exactly_its_order,
            c41_what_does_not_show_yet_is_absent_then_found,
            c42_between_two_lists_a_fill_shows_it,
            c43_a_failed_read_is_no_absence,
            c44_a_round_says_when_it_began_and_ended,
            c45_what_was_never_sent_is_absent,
            c46_every_page_is_read,
            c47_fills_add_up_to_what_was_executed,
            c48_what_closed_is_in_the_list_of_closed_orders,
            c50_a_cancel_ends_the_order,
            c51_a_cancel_of_what_filled_proves_nothing,
            c52_a_cancel_of_what_never_was_proves_nothing,
            c53_a_lost_cancel_is_unknown,
            c54_a_cancel_keeps_what_was_filled,
            c55_a_cancel_refused_because_it_filled,
            c56_a_lost_cancel_is_repeated_until_the_end,
            c57_a_cancel_in_doubt_ends_creates,
            c60_a_lost_answer_ends_as_one_order,
            c61_a_lost_request_ends_as_one_order,
            c62_a_late_request_is_one_order,
            c63_what_was_not_taken_is_sent_again,
            c64_a_doubled_request_is_one_order_or_a_halt,
            c65_a_lag_places_no_second_order,
            c66_the_gap_between_lists_is_no_end,
            c67_failed_lookups_end_no_doubt,
            c68_doubt_refuses_new_risk_and_lifts,
            c69_doubt_past_the_cap_halts_the_account_and_lifts,
            c70_fills_before_the_ack,
            c71_a_stream_that_lies_loses_and_doubles_no_fill,
            c72_fills_after_the_end_are_owed_and_booked,
            c73_fills_of_nobody_at_home_are_found,
            c76_a_rejected_order_stays_rejected,
            c77_one_decision_is_one_order,
            c78_another_accounts_keys_are_refused,
            c79_a_journal_that_went_back_halts,
            c80_it_dies_around_each_call_of_an_order_in_doubt,
            c81_it_dies_around_each_call_of_a_recovery,
            c82_it_dies_around_a_halt_and_its_end,
            c83_without_a_death_the_life_goes_on,
            c85_it_dies_while_a_create_is_on_its_way,
            c86_it_dies_in_doubt_again_and_again,
            c87_it_dies_with_a_cancel_asked,
            c88_a_power_cut_in_doubt_sends_nothing_twice,
            c89_it_starts_while_the_venue_is_down,
            c90_a_clock_that_jumps_places_no_second_order,
        );
    };
    (@each $fixture:ty: $($case:ident),+ $(,)?) => {
        $(
            #[tokio::test]
            async fn $case() {
                $crate::venue::cases::$case($crate::venue::start::<$fixture>).await;
            }
        )+
    };
}
