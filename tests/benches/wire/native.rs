//! The same tool written natively: the least that a server of the library can do.

use std::sync::Arc;

use axum::Router;
use axum::serve::ListenerExt as _;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer, serve_server};
use rmcp::transport::io::stdio_pipes;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde_json::json;

/// Tells this program to be that server: over `stdio` or `http`.
pub const ROLE: &str = "PRX_BENCH_NATIVE";

#[derive(Clone)]
struct Native;

#[derive(Deserialize)]
struct Arguments {
    text: String,
    numbers: Vec<i64>,
}

impl ServerHandler for Native {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == "trivial").then(tool)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![tool()]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default().into();
        let arguments: Arguments = serde_json::from_value(arguments)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let sum: i64 = arguments.numbers.iter().sum();
        let answer = json!({ "characters": arguments.text.chars().count(), "sum": sum });
        Ok(CallToolResult::structured(answer).into())
    }
}

fn tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "text": { "type": "string" },
            "numbers": { "type": "array", "items": { "type": "integer" } },
        },
        "required": ["text", "numbers"],
    });
    let schema = schema.as_object().cloned().unwrap_or_default();
    Tool::new("trivial", "Counts and adds.", Arc::new(schema))
}

/// Serves until there is no client, or for ever.
pub fn serve(transport: &str) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        if transport == "stdio" {
            let running = serve_server(Native, stdio_pipes()).await?;
            running.waiting().await?;
            return Ok(());
        }
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        eprintln!("listening on http://{}/mcp", listener.local_addr()?);
        let service = StreamableHttpService::new(
            || Ok(Native),
            Arc::new(LocalSessionManager::default()),
            StreamableHttpServerConfig::default(),
        );
        let listener = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, Router::new().nest_service("/mcp", service)).await?;
        Ok(())
    })
}
