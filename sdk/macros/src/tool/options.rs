//! The options in `#[tool(…)]`: what a tool claims about itself and what it asks for.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, LitBool, LitStr, Result, Token, parenthesized};

const KNOWN: &str = "`read_only`, `destructive`, `idempotent`, `open_world`, `name`, `title`, \
                     `reads`, `writes`, `variable`, `network`, `state` and `optional`";

#[derive(Default)]
pub struct Options {
    pub name: Option<LitStr>,
    pub title: Option<LitStr>,
    pub read_only: Option<Claim>,
    pub destructive: Option<Claim>,
    pub idempotent: Option<Claim>,
    pub open_world: Option<Claim>,
    pub requests: Vec<Request>,
}

/// A hint of the Model Context Protocol, and where it was written.
pub struct Claim {
    pub value: bool,
    at: Ident,
}

/// Something that the tool asks the operator for.
pub struct Request {
    keyword: Ident,
    target: Option<LitStr>,
    reason: LitStr,
    optional: bool,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Self::default();
        while !input.is_empty() {
            options.parse_one(input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        options.check()?;
        Ok(options)
    }
}

impl Options {
    fn parse_one(&mut self, input: ParseStream<'_>) -> Result<()> {
        let keyword: Ident = input.parse()?;
        match keyword.to_string().as_str() {
            "name" => text(&mut self.name, &keyword, input),
            "title" => text(&mut self.title, &keyword, input),
            "read_only" => claim(&mut self.read_only, keyword, input),
            "destructive" => claim(&mut self.destructive, keyword, input),
            "idempotent" => claim(&mut self.idempotent, keyword, input),
            "open_world" => claim(&mut self.open_world, keyword, input),
            "optional" => {
                let inner;
                parenthesized!(inner in input);
                let keyword: Ident = inner.parse()?;
                self.add(Request::parse(keyword, &inner, true)?)?;
                if inner.is_empty() {
                    Ok(())
                } else {
                    Err(inner.error("`optional` takes one request"))
                }
            }
            "reads" | "writes" | "variable" | "network" | "state" => {
                self.add(Request::parse(keyword, input, false)?)
            }
            other => Err(Error::new(
                keyword.span(),
                format!("unknown option `{other}`; `#[tool]` knows {KNOWN}"),
            )),
        }
    }

    fn add(&mut self, request: Request) -> Result<()> {
        let is_same = |earlier: &Request| {
            earlier.keyword == request.keyword
                && earlier.target.as_ref().map(LitStr::value)
                    == request.target.as_ref().map(LitStr::value)
        };
        if self.requests.iter().any(is_same) {
            return Err(Error::new(
                request.keyword.span(),
                "this is asked for twice",
            ));
        }
        self.requests.push(request);
        Ok(())
    }

    /// Claims that contradict each other or a request would mislead whoever decides.
    fn check(&self) -> Result<()> {
        let Some(Claim { value: true, .. }) = self.read_only else {
            return Ok(());
        };
        if let Some(Claim { value: true, at }) = &self.destructive {
            return Err(Error::new(
                at.span(),
                "a `read_only` tool can not be `destructive`",
            ));
        }
        match self
            .requests
            .iter()
            .find(|request| request.keyword == "writes")
        {
            Some(request) => Err(Error::new(
                request.keyword.span(),
                "a `read_only` tool does not ask to write; use `reads`, or drop `read_only`",
            )),
            None => Ok(()),
        }
    }
}

impl Request {
    fn parse(keyword: Ident, input: ParseStream<'_>, optional: bool) -> Result<Self> {
        let usage = match keyword.to_string().as_str() {
            "reads" => "reads(\"/docs\", \"why\")",
            "writes" => "writes(\"/notes\", \"why\")",
            "variable" => "variable(\"LANG\", \"why\")",
            "network" => "network(\"api.example.com:443\", \"why\")",
            "state" => "state(\"why\")",
            other => {
                return Err(Error::new(
                    keyword.span(),
                    format!(
                        "`{other}` is no request; there are `reads`, `writes`, `variable`, `network` and `state`"
                    ),
                ));
            }
        };
        let wrong = || Error::new(keyword.span(), format!("write `{usage}`"));
        if !input.peek(syn::token::Paren) {
            return Err(wrong());
        }
        let inner;
        parenthesized!(inner in input);
        let mut texts: Vec<LitStr> = inner
            .parse_terminated(<LitStr as Parse>::parse, Token![,])
            .map_err(|_| wrong())?
            .into_iter()
            .collect();
        let expected = if keyword == "state" { 1 } else { 2 };
        let reason = match texts.pop() {
            Some(reason) if texts.len() + 1 == expected => reason,
            _ => return Err(wrong()),
        };
        if reason.value().trim().is_empty() {
            return Err(Error::new(
                reason.span(),
                "say in one sentence why the tool needs this",
            ));
        }
        let target = texts.pop();
        if let Some(target) = &target {
            check_target(&keyword, target)?;
        }
        Ok(Self {
            keyword,
            target,
            reason,
            optional,
        })
    }

    pub fn tokens(&self) -> TokenStream {
        let Self {
            keyword,
            target,
            reason,
            optional,
        } = self;
        let capability = match keyword.to_string().as_str() {
            "reads" => quote!(ReadFolder(#target)),
            "writes" => quote!(WriteFolder(#target)),
            "variable" => quote!(Variable(#target)),
            "network" => quote!(Network(#target)),
            _ => quote!(State),
        };
        quote! {
            ::prx_skill::plumbing::Request {
                capability: ::prx_skill::plumbing::Capability::#capability,
                reason: #reason,
                optional: #optional,
            }
        }
    }
}

fn check_target(keyword: &Ident, target: &LitStr) -> Result<()> {
    let text = target.value();
    let fault = match keyword.to_string().as_str() {
        "reads" | "writes" if !text.starts_with('/') => {
            "a folder is an absolute guest path, for instance `/docs`"
        }
        "reads" | "writes" if text.split('/').any(|part| part == "..") => {
            "a guest path has no `..`"
        }
        "variable" if text.is_empty() || text.contains(['=', '*', ' ']) => {
            "the name of one environment variable, for instance `LANG`"
        }
        "network" if text == "*" => return Ok(()),
        "network" if text.is_empty() || text.contains(['/', '@', ' ', '*']) => {
            "write `host:port`, without scheme or path, or `*` for any host"
        }
        _ => return Ok(()),
    };
    Err(Error::new(target.span(), fault))
}

fn text(slot: &mut Option<LitStr>, keyword: &Ident, input: ParseStream<'_>) -> Result<()> {
    once(slot.is_some(), keyword)?;
    input.parse::<Token![=]>()?;
    *slot = Some(input.parse()?);
    Ok(())
}

fn claim(slot: &mut Option<Claim>, keyword: Ident, input: ParseStream<'_>) -> Result<()> {
    once(slot.is_some(), &keyword)?;
    let value = if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        input.parse::<LitBool>()?.value
    } else {
        true
    };
    *slot = Some(Claim { value, at: keyword });
    Ok(())
}

fn once(is_given: bool, keyword: &Ident) -> Result<()> {
    if is_given {
        return Err(Error::new(
            keyword.span(),
            format!("`{keyword}` is given twice"),
        ));
    }
    Ok(())
}
