//! The list of all cases, and the macro that holds a fixture to it.

/// Makes a test of every case for one fixture.
macro_rules! contract {
    ($fixture:expr) => {
        contract! { @each $fixture;
            arguments::arguments_arrive_as_they_are,
            arguments::many_long_arguments_arrive,
            arguments::what_no_program_can_be_given_is_refused,
            arguments::a_command_without_arguments_is_a_line_for_the_shell,
            arguments::no_shell_reads_arguments,
            ends::exit_codes_arrive,
            ends::codes_that_look_like_signals_are_codes,
            ends::a_breakdown_is_told_from_an_exit,
            ends::a_missing_command_is_said_to_be_missing,
            ends::a_file_that_must_not_be_run_is_refused,
            output::output_that_is_not_text_arrives,
            output::no_output_is_no_output,
            output::both_streams_are_kept_up_to_their_limit,
            output::a_call_has_its_own_limit_of_output,
            output::output_is_heard_as_it_comes,
            folders::the_workspace_is_the_working_folder,
            folders::a_call_has_its_own_working_folder,
            folders::a_working_folder_that_is_missing_is_an_error,
            variables::only_listed_variables_arrive,
            variables::a_call_has_its_own_variables,
            variables::a_listed_name_is_no_prefix,
            variables::secrets_of_the_host_do_not_arrive,
            variables::errors_do_not_tell_values,
            input::without_input_there_is_its_end,
            input::input_arrives_whole,
            input::input_that_nobody_reads_does_no_harm,
            time::a_timeout_ends_the_command_and_keeps_its_output,
            time::a_timeout_ends_a_command_that_uses_the_processor,
            time::a_cancellation_ends_the_command_and_keeps_its_output,
            time::a_dropped_future_ends_the_command,
            time::a_command_that_ignores_the_signal_is_ended,
            time::a_call_that_is_cancelled_already_ends,
            children::a_child_that_holds_the_streams_does_not_hold_the_call,
            children::children_end_with_a_command_that_took_too_long,
            children::a_child_in_its_own_session_ends_where_that_is_promised,
            many::calls_at_once_do_not_disturb_each_other,
            many::a_call_after_a_failed_one_works,
            many::plain_execution_is_the_same_as_a_rich_one,
        }
    };
    (@each $fixture:expr; $($group:ident :: $case:ident,)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() -> anyhow::Result<()> {
                crate::cases::$group::$case(&$fixture).await
            }
        )*
    };
}
