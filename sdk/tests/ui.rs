//! Misuse of the macros is an error at the place of the mistake, and only there.

#[test]
fn misuse_is_an_error_at_the_right_place() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
