//! The macros of `prx-skill`, documented there: `#[tool]`, `skill!` and `#[data]`.
//! Everything they expand to names items through `::prx_skill`, so that a skill needs
//! no other dependency.

mod data;
mod skill;
mod tool;

use proc_macro::TokenStream;

/// Makes a tool of a function. Described in the documentation of `prx_skill`.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    tool::expand(options.into(), function.into()).into()
}

/// Exports tools as one skill. Described in the documentation of `prx_skill`.
#[proc_macro]
pub fn skill(tools: TokenStream) -> TokenStream {
    skill::expand(tools.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Derives what a type needs to be part of arguments and answers. Described in the
/// documentation of `prx_skill`.
#[proc_macro_attribute]
pub fn data(options: TokenStream, item: TokenStream) -> TokenStream {
    data::expand(options.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
