//! `skill!`: the list of tools, the check that their names differ, the export.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, LitStr, Path, Result, Token};

pub fn expand(tools: TokenStream) -> Result<TokenStream> {
    let tools = Punctuated::<Path, Token![,]>::parse_terminated.parse2(tools)?;
    if tools.is_empty() {
        return Err(Error::new(
            Span::call_site(),
            "a skill needs at least one tool: `skill!(my_tool)`",
        ));
    }
    let tools: Vec<Path> = tools.into_iter().collect();
    let entries = tools
        .iter()
        .map(|tool| quote_spanned!(tool.span()=> ::prx_skill::plumbing::Entry::of::<#tool>()));
    let checks = tools
        .iter()
        .enumerate()
        .map(|(index, tool)| unique(&tools[..index], tool));
    Ok(quote! {
        /// The tools of this crate, for tests.
        #[allow(dead_code)]
        pub const SKILL: ::prx_skill::Skill = ::prx_skill::Skill::new(&[#(#entries),*]);

        #(#checks)*

        ::prx_skill::__export!(SKILL);
    })
}

/// Names can be given by an attribute elsewhere, so only the compiler knows them all.
fn unique(earlier: &[Path], tool: &Path) -> TokenStream {
    let same_name = earlier.iter().map(|earlier| {
        quote_spanned! {tool.span()=>
            ::prx_skill::plumbing::same_name(
                <#earlier as ::prx_skill::Tool>::NAME,
                <#tool as ::prx_skill::Tool>::NAME,
            )
        }
    });
    // With the tool's span, clippy would take the literal for the raw name of the tool.
    let message = LitStr::new(
        "an earlier tool of this skill has the same name; give one of them `#[tool(name = \"…\")]`",
        Span::call_site(),
    );
    quote_spanned! {tool.span()=>
        #[allow(clippy::manual_assert)]
        const _: () = if false #(|| #same_name)* {
            ::core::panic!(#message)
        };
    }
}
