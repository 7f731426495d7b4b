//! Which endpoint a request is for.

use hyper::Method;

use crate::edge::Op;

/// The endpoints that are simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Endpoint {
    Create,
    Amend,
    Cancel,
    CancelAll,
    CreateBatch,
    AmendBatch,
    CancelBatch,
    Realtime,
    History,
    Executions,
    Positions,
    Wallet,
    AccountInfo,
    QueryApi,
    Instruments,
    Time,
}

impl Endpoint {
    /// The endpoint of a method and path.
    pub(super) fn find(method: &Method, path: &str) -> Option<Self> {
        let (wanted, endpoint) = match path {
            "/v5/order/create" => (Method::POST, Self::Create),
            "/v5/order/amend" => (Method::POST, Self::Amend),
            "/v5/order/cancel" => (Method::POST, Self::Cancel),
            "/v5/order/cancel-all" => (Method::POST, Self::CancelAll),
            "/v5/order/create-batch" => (Method::POST, Self::CreateBatch),
            "/v5/order/amend-batch" => (Method::POST, Self::AmendBatch),
            "/v5/order/cancel-batch" => (Method::POST, Self::CancelBatch),
            "/v5/order/realtime" => (Method::GET, Self::Realtime),
            "/v5/order/history" => (Method::GET, Self::History),
            "/v5/execution/list" => (Method::GET, Self::Executions),
            "/v5/position/list" => (Method::GET, Self::Positions),
            "/v5/account/wallet-balance" => (Method::GET, Self::Wallet),
            "/v5/account/info" => (Method::GET, Self::AccountInfo),
            "/v5/user/query-api" => (Method::GET, Self::QueryApi),
            "/v5/market/instruments-info" => (Method::GET, Self::Instruments),
            "/v5/market/time" => (Method::GET, Self::Time),
            _ => return None,
        };
        (wanted == *method).then_some(endpoint)
    }

    /// Whether anybody may call it.
    pub(super) const fn is_public(self) -> bool {
        matches!(self, Self::Instruments | Self::Time)
    }

    /// Whether it changes orders, which has a limit of its own.
    pub(super) const fn is_order(self) -> bool {
        matches!(
            self,
            Self::Create
                | Self::Amend
                | Self::Cancel
                | Self::CancelAll
                | Self::CreateBatch
                | Self::AmendBatch
                | Self::CancelBatch
        )
    }

    /// Whether one request carries several orders.
    pub(super) const fn is_batch(self) -> bool {
        matches!(
            self,
            Self::CreateBatch | Self::AmendBatch | Self::CancelBatch
        )
    }
}

/// What faults know a request as. History counts as a lookup, with and without an id.
pub(super) fn op(method: &Method, path: &str, query: &str) -> Op {
    let by_id = query
        .split('&')
        .any(|part| part.starts_with("orderId=") || part.starts_with("orderLinkId="));
    match Endpoint::find(method, path) {
        Some(Endpoint::Create | Endpoint::CreateBatch) => Op::Create,
        Some(Endpoint::Amend | Endpoint::AmendBatch) => Op::Amend,
        Some(Endpoint::Cancel | Endpoint::CancelAll | Endpoint::CancelBatch) => Op::Cancel,
        Some(Endpoint::Realtime) if by_id => Op::Lookup,
        Some(Endpoint::Realtime) => Op::OpenOrders,
        Some(Endpoint::History) => Op::Lookup,
        Some(Endpoint::Executions) => Op::Fills,
        Some(Endpoint::Positions) => Op::Positions,
        Some(
            Endpoint::Wallet
            | Endpoint::AccountInfo
            | Endpoint::QueryApi
            | Endpoint::Instruments
            | Endpoint::Time,
        )
        | None => Op::Other,
    }
}
