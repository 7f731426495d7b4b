//! Actions as the venue deserializes them, and what each packs to. Section 4 of the notes has the order of the keys.

use serde::Deserialize;

use super::{
    address::{Address, Cloid, Which},
    number::Number,
    pack::Pack,
    user_signed::{
        ApproveAgent, ApproveBuilderFee, SendAsset, SpotSend, UsdClassTransfer, UsdSend, Withdraw3,
    },
};

/// What an account or its agent asks for.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum Action {
    Order(Orders),
    Cancel(Cancels),
    CancelByCloid(CloidCancels),
    Modify(Modify),
    BatchModify(Modifies),
    ScheduleCancel(ScheduleCancel),
    Noop(Noop),
    UpdateLeverage(UpdateLeverage),
    UpdateIsolatedMargin(UpdateIsolatedMargin),
    TwapOrder(TwapOrder),
    TwapCancel(TwapCancel),
    ReserveRequestWeight(ReserveRequestWeight),
    CreateSubAccount(CreateSubAccount),
    SubAccountTransfer(SubAccountTransfer),
    VaultTransfer(VaultTransfer),
    UsdSend(UsdSend),
    SpotSend(SpotSend),
    Withdraw3(Withdraw3),
    UsdClassTransfer(UsdClassTransfer),
    SendAsset(SendAsset),
    ApproveAgent(ApproveAgent),
    ApproveBuilderFee(ApproveBuilderFee),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Orders {
    pub(super) orders: Vec<Order>,
    pub(super) grouping: Grouping,
    pub(super) builder: Option<Builder>,
}

/// One order. Here, and only here, unknown fields are ignored.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Order {
    pub(super) a: u32,
    pub(super) b: bool,
    pub(super) p: Number,
    pub(super) s: Number,
    pub(super) r: bool,
    pub(super) t: Terms,
    pub(super) c: Option<Cloid>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum Terms {
    Limit {
        tif: Tif,
    },
    #[serde(rename_all = "camelCase")]
    Trigger {
        is_market: bool,
        trigger_px: Number,
        tpsl: Tpsl,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Tif {
    Gtc,
    Ioc,
    Alo,
    FrontendMarket,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Tpsl {
    Tp,
    Sl,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Grouping {
    Named(GroupingName),
    Priority(Priority),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum GroupingName {
    Na,
    NormalTpsl,
    PositionTpsl,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Priority {
    p: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Builder {
    b: Address,
    f: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cancels {
    pub(super) cancels: Vec<Cancel>,
    f: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cancel {
    pub(super) a: u32,
    pub(super) o: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CloidCancels {
    pub(super) cancels: Vec<CloidCancel>,
    f: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CloidCancel {
    pub(super) asset: u32,
    pub(super) cloid: Cloid,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Modify {
    pub(super) oid: Which,
    pub(super) order: Order,
    /// Always place.
    pub(super) a: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Modifies {
    pub(super) modifies: Vec<Change>,
    /// Always place.
    pub(super) a: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    pub(super) oid: Which,
    pub(super) order: Order,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScheduleCancel {
    pub(super) time: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Noop {}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct UpdateLeverage {
    pub(super) asset: u32,
    pub(super) is_cross: bool,
    pub(super) leverage: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct UpdateIsolatedMargin {
    asset: u32,
    is_buy: bool,
    ntli: i64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TwapOrder {
    twap: Twap,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Twap {
    a: u32,
    b: bool,
    s: Number,
    r: bool,
    m: u32,
    t: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TwapCancel {
    a: u32,
    t: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReserveRequestWeight {
    weight: u64,
    destination: Option<Address>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateSubAccount {
    name: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SubAccountTransfer {
    sub_account_user: Address,
    is_deposit: bool,
    usd: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct VaultTransfer {
    vault_address: Address,
    is_deposit: bool,
    usd: u64,
}

impl Action {
    /// The name on the wire.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Order(_) => "order",
            Self::Cancel(_) => "cancel",
            Self::CancelByCloid(_) => "cancelByCloid",
            Self::Modify(_) => "modify",
            Self::BatchModify(_) => "batchModify",
            Self::ScheduleCancel(_) => "scheduleCancel",
            Self::Noop(_) => "noop",
            Self::UpdateLeverage(_) => "updateLeverage",
            Self::UpdateIsolatedMargin(_) => "updateIsolatedMargin",
            Self::TwapOrder(_) => "twapOrder",
            Self::TwapCancel(_) => "twapCancel",
            Self::ReserveRequestWeight(_) => "reserveRequestWeight",
            Self::CreateSubAccount(_) => "createSubAccount",
            Self::SubAccountTransfer(_) => "subAccountTransfer",
            Self::VaultTransfer(_) => "vaultTransfer",
            Self::UsdSend(_) => "usdSend",
            Self::SpotSend(_) => "spotSend",
            Self::Withdraw3(_) => "withdraw3",
            Self::UsdClassTransfer(_) => "usdClassTransfer",
            Self::SendAsset(_) => "sendAsset",
            Self::ApproveAgent(_) => "approveAgent",
            Self::ApproveBuilderFee(_) => "approveBuilderFee",
        }
    }

    /// How many orders, cancels or changes it holds; limits count each.
    pub(super) fn items(&self) -> usize {
        match self {
            Self::Order(action) => action.orders.len(),
            Self::Cancel(action) => action.cancels.len(),
            Self::CancelByCloid(action) => action.cancels.len(),
            Self::BatchModify(action) => action.modifies.len(),
            Self::Modify(_)
            | Self::ScheduleCancel(_)
            | Self::Noop(_)
            | Self::UpdateLeverage(_)
            | Self::UpdateIsolatedMargin(_)
            | Self::TwapOrder(_)
            | Self::TwapCancel(_)
            | Self::ReserveRequestWeight(_)
            | Self::CreateSubAccount(_)
            | Self::SubAccountTransfer(_)
            | Self::VaultTransfer(_)
            | Self::UsdSend(_)
            | Self::SpotSend(_)
            | Self::Withdraw3(_)
            | Self::UsdClassTransfer(_)
            | Self::SendAsset(_)
            | Self::ApproveAgent(_)
            | Self::ApproveBuilderFee(_) => 1,
        }
    }

    /// What is hashed; none for the actions that users sign by their fields.
    pub(super) fn pack(&self) -> Option<Pack> {
        let mut fields = vec![("type", Pack::text(self.name()))];
        match self {
            Self::Order(action) => {
                fields.push(("orders", Pack::list(&action.orders, Order::pack)));
                fields.push(("grouping", action.grouping.pack()));
                if let Some(builder) = &action.builder {
                    let builder = vec![
                        ("b", Pack::text(builder.b.to_string())),
                        ("f", Pack::Whole(builder.f)),
                    ];
                    fields.push(("builder", Pack::Map(builder)));
                }
            }
            Self::Cancel(action) => {
                let cancel = |cancel: &Cancel| {
                    Pack::Map(vec![
                        ("a", Pack::Whole(cancel.a.into())),
                        ("o", Pack::Whole(cancel.o)),
                    ])
                };
                fields.push(("cancels", Pack::list(&action.cancels, cancel)));
                fields.extend(set("f", action.f));
            }
            Self::CancelByCloid(action) => {
                let cancel = |cancel: &CloidCancel| {
                    let cloid = Pack::text(cancel.cloid.0.as_str());
                    Pack::Map(vec![
                        ("asset", Pack::Whole(cancel.asset.into())),
                        ("cloid", cloid),
                    ])
                };
                fields.push(("cancels", Pack::list(&action.cancels, cancel)));
                fields.extend(set("f", action.f));
            }
            Self::Modify(action) => {
                fields.push(("oid", action.oid.pack()));
                fields.push(("order", action.order.pack()));
                fields.extend(set("a", action.a));
            }
            Self::BatchModify(action) => {
                let change = |change: &Change| {
                    Pack::Map(vec![
                        ("oid", change.oid.pack()),
                        ("order", change.order.pack()),
                    ])
                };
                fields.push(("modifies", Pack::list(&action.modifies, change)));
                fields.extend(set("a", action.a));
            }
            Self::ScheduleCancel(action) => {
                fields.extend(action.time.map(|time| ("time", Pack::Whole(time))));
            }
            Self::Noop(Noop {}) => {}
            Self::UpdateLeverage(action) => {
                fields.push(("asset", Pack::Whole(action.asset.into())));
                fields.push(("isCross", Pack::Flag(action.is_cross)));
                fields.push(("leverage", Pack::Whole(action.leverage.into())));
            }
            Self::UpdateIsolatedMargin(action) => {
                fields.push(("asset", Pack::Whole(action.asset.into())));
                fields.push(("isBuy", Pack::Flag(action.is_buy)));
                fields.push(("ntli", Pack::Signed(action.ntli)));
            }
            Self::TwapOrder(action) => {
                let twap = &action.twap;
                let twap = vec![
                    ("a", Pack::Whole(twap.a.into())),
                    ("b", Pack::Flag(twap.b)),
                    ("s", Pack::text(twap.s.canonical())),
                    ("r", Pack::Flag(twap.r)),
                    ("m", Pack::Whole(twap.m.into())),
                    ("t", Pack::Flag(twap.t)),
                ];
                fields.push(("twap", Pack::Map(twap)));
            }
            Self::TwapCancel(action) => {
                fields.push(("a", Pack::Whole(action.a.into())));
                fields.push(("t", Pack::Whole(action.t)));
            }
            Self::ReserveRequestWeight(action) => {
                fields.push(("weight", Pack::Whole(action.weight)));
                let destination = action
                    .destination
                    .map(|address| Pack::text(address.to_string()));
                fields.extend(destination.map(|address| ("destination", address)));
            }
            Self::CreateSubAccount(action) => {
                fields.push(("name", Pack::text(action.name.as_str())))
            }
            Self::SubAccountTransfer(action) => {
                let user = Pack::text(action.sub_account_user.to_string());
                fields.push(("subAccountUser", user));
                fields.push(("isDeposit", Pack::Flag(action.is_deposit)));
                fields.push(("usd", Pack::Whole(action.usd)));
            }
            Self::VaultTransfer(action) => {
                fields.push(("vaultAddress", Pack::text(action.vault_address.to_string())));
                fields.push(("isDeposit", Pack::Flag(action.is_deposit)));
                fields.push(("usd", Pack::Whole(action.usd)));
            }
            Self::UsdSend(_)
            | Self::SpotSend(_)
            | Self::Withdraw3(_)
            | Self::UsdClassTransfer(_)
            | Self::SendAsset(_)
            | Self::ApproveAgent(_)
            | Self::ApproveBuilderFee(_) => return None,
        }
        Some(Pack::Map(fields))
    }
}

/// A flag that is left out when it is false.
fn set(name: &'static str, flag: Option<bool>) -> Option<(&'static str, Pack)> {
    flag.filter(|flag| *flag)
        .map(|flag| (name, Pack::Flag(flag)))
}

impl Order {
    fn pack(&self) -> Pack {
        let mut fields = vec![
            ("a", Pack::Whole(self.a.into())),
            ("b", Pack::Flag(self.b)),
            ("p", Pack::text(self.p.canonical())),
            ("s", Pack::text(self.s.canonical())),
            ("r", Pack::Flag(self.r)),
            ("t", self.t.pack()),
        ];
        fields.extend(
            self.c
                .as_ref()
                .map(|cloid| ("c", Pack::text(cloid.0.as_str()))),
        );
        Pack::Map(fields)
    }
}

impl Terms {
    fn pack(&self) -> Pack {
        match self {
            Self::Limit { tif } => {
                let tif = match tif {
                    Tif::Gtc => "Gtc",
                    Tif::Ioc => "Ioc",
                    Tif::Alo => "Alo",
                    Tif::FrontendMarket => "FrontendMarket",
                };
                let limit = Pack::Map(vec![("tif", Pack::text(tif))]);
                Pack::Map(vec![("limit", limit)])
            }
            Self::Trigger {
                is_market,
                trigger_px,
                tpsl,
            } => {
                let tpsl = match tpsl {
                    Tpsl::Tp => "tp",
                    Tpsl::Sl => "sl",
                };
                let trigger = vec![
                    ("isMarket", Pack::Flag(*is_market)),
                    ("triggerPx", Pack::text(trigger_px.canonical())),
                    ("tpsl", Pack::text(tpsl)),
                ];
                Pack::Map(vec![("trigger", Pack::Map(trigger))])
            }
        }
    }
}

impl Grouping {
    fn pack(&self) -> Pack {
        match self {
            Self::Named(GroupingName::Na) => Pack::text("na"),
            Self::Named(GroupingName::NormalTpsl) => Pack::text("normalTpsl"),
            Self::Named(GroupingName::PositionTpsl) => Pack::text("positionTpsl"),
            Self::Priority(Priority { p }) => Pack::Map(vec![("p", Pack::Whole(*p))]),
        }
    }
}

impl Which {
    fn pack(&self) -> Pack {
        match self {
            Self::Oid(oid) => Pack::Whole(*oid),
            Self::Cloid(cloid) => Pack::text(cloid.0.as_str()),
        }
    }
}
