//! `#[data]`: the derives of serde and schemars with the paths that lead through
//! `prx_skill`, so that the author's crate needs neither.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Ident, Item, Result};

pub fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let (reads, writes) = directions(options)?;
    let item: Item = syn::parse2(item)?;
    match &item {
        Item::Struct(_) | Item::Enum(_) => {}
        other => {
            return Err(Error::new_spanned(
                other,
                "`#[data]` is for structs and enums",
            ));
        }
    }
    let deserialize = reads.then(|| quote!(::prx_skill::plumbing::serde::Deserialize,));
    let serialize = writes.then(|| quote!(::prx_skill::plumbing::serde::Serialize,));
    Ok(quote! {
        #[derive(#deserialize #serialize ::prx_skill::plumbing::schemars::JsonSchema)]
        #[serde(crate = "::prx_skill::plumbing::serde")]
        #[schemars(crate = "::prx_skill::plumbing::schemars")]
        #item
    })
}

/// Whether the type is read from arguments and whether it is written into answers.
fn directions(options: TokenStream) -> Result<(bool, bool)> {
    if options.is_empty() {
        return Ok((true, true));
    }
    let option: Ident = syn::parse2(options)?;
    match option.to_string().as_str() {
        "input" => Ok((true, false)),
        "output" => Ok((false, true)),
        _ => Err(Error::new(
            option.span(),
            "unknown option; `#[data]` takes `input` (arguments only), `output` (answers only) or nothing",
        )),
    }
}
