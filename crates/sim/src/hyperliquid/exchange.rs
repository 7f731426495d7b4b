//! Admission of an action, and what each kind of action does.

use rust_decimal::prelude::ToPrimitive;
use serde_json::Value;

use super::{
    action::{Action, ScheduleCancel, Terms, Tif, UpdateLeverage},
    address::Address,
    chain::{Chain, Fact, MOST_FIRINGS, agent_term, cap, day},
    envelope::Envelope,
    markets::{LEVERAGE, Market},
    modify, orders,
    reply::{Stop, error, plain, statuses},
    user_signed::{ApproveAgent, UserSigned},
    venue::{Hyperliquid, Relation},
};
use crate::edge::Venue;

/// A dead man's switch lies at least so far ahead.
const LEAST_AHEAD_MS: u64 = 5_000;
/// Named agents of a master, and more of each sub-account.
const NAMED_AGENTS: usize = 3;
const AGENTS_PER_SUB: usize = 2;
const NOBODY: Address = Address([0; 20]);

/// Who acts for whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct By {
    /// The user whose key, or whose agent's key, signed.
    pub(super) user: String,
    /// The account that is acted for.
    pub(super) account: String,
    pub(super) now_ms: u64,
}

/// Admits the action and does it. The chain is held from the first check to the last order, as in a block.
pub(super) fn run(
    venue: &Hyperliquid,
    envelope: &Envelope,
    signer: Option<Address>,
) -> Result<Value, Stop> {
    let mut chain = venue.chain();
    venue.fire_due(&mut chain)?;
    let by = admit(venue, &mut chain, envelope, signer)?;
    perform(venue, &mut chain, &by, &envelope.action)
}

fn admit(
    venue: &Hyperliquid,
    chain: &mut Chain,
    envelope: &Envelope,
    signer: Option<Address>,
) -> Result<By, Stop> {
    let now_ms = venue.now_ms();
    let signer = signer
        .ok_or_else(|| Stop::refused("Unable to recover signer."))?
        .to_string();
    let user_signed = UserSigned::of(&envelope.action);
    let user = match (venue.relation(&signer), chain.agent(&signer, now_ms)) {
        (Some(Relation::User), _) => signer.clone(),
        (_, Some(agent)) if user_signed.is_none() => agent.master.clone(),
        (_, _) => {
            return Err(Stop::refused(format!(
                "User or API Wallet {signer} does not exist."
            )));
        }
    };
    if let Some(signed) = &user_signed {
        let wrong = match () {
            () if envelope.vault_address.is_some() => "Action does not support vault_address",
            () if envelope.expires_after.is_some() => "Action does not support expires_after",
            () if signed.chain.network != "Testnet" => "Invalid hyperliquidChain",
            () if signed.nonce != envelope.nonce => "Nonce mismatch.",
            () => "",
        };
        if !wrong.is_empty() {
            return Err(Stop::refused(wrong));
        }
    }
    let account = match envelope.vault_address {
        None => user.clone(),
        Some(vault) => {
            let vault = vault.to_string();
            match venue.relation(&vault) {
                Some(Relation::Sub(owner) | Relation::Vault(owner)) if *owner == user => vault,
                Some(Relation::User | Relation::Sub(_) | Relation::Vault(_)) | None => {
                    return Err(Stop::refused(format!("Vault not registered: {vault}")));
                }
            }
        }
    };
    let nonce = envelope.nonce;
    if let Some(text) = chain.nonce_refusal(&signer, nonce, now_ms, venue.nonce_rule()) {
        return Err(Stop::Refused(text));
    }
    let expired = envelope
        .expires_after
        .is_some_and(|expires_ms| now_ms > expires_ms);
    let items = u64::try_from(envelope.action.items()).unwrap_or(u64::MAX);
    let volume = {
        let world = venue.stage().world();
        chain
            .volume(world.core(), &account)
            .to_u64()
            .unwrap_or(u64::MAX)
    };
    let cancels = matches!(
        envelope.action,
        Action::Cancel(_) | Action::CancelByCloid(_)
    );
    let spent = chain.spent(&account);
    let over = spent.over(volume, cancels, now_ms);
    let cost = match (over, expired) {
        (true, _) => 0,
        (false, true) => 5,
        (false, false) => items,
    };
    // From here on the nonce is used, whatever becomes of the action.
    venue.learn(
        chain,
        &Fact::Admitted {
            signer,
            account: account.clone(),
            nonce,
            at_ms: now_ms,
            cost,
        },
    )?;
    if over {
        return Err(Stop::refused(format!(
            "Too many cumulative requests sent ({} > {}) for cumulative volume traded ${volume}. Place taker orders \
             to free up 1 request per USDC traded.",
            spent.requests,
            cap(volume),
        )));
    }
    if expired {
        return Err(Stop::refused("Action already expired"));
    }
    Ok(By {
        user,
        account,
        now_ms,
    })
}

fn perform(
    venue: &Hyperliquid,
    chain: &mut Chain,
    by: &By,
    action: &Action,
) -> Result<Value, Stop> {
    let settings = venue.settings();
    if by.now_ms < settings.gate_until_ms && takes(action) {
        let text = "Only post-only orders allowed immediately after a network upgrade";
        return if settings.gate_per_order {
            Ok(statuses("order", &[error(text)]))
        } else {
            Err(Stop::refused(text))
        };
    }
    match action {
        Action::Order(action) => orders::place_all(venue, by, action),
        Action::Cancel(action) => orders::cancel_all(venue, by, &action.cancels),
        Action::CancelByCloid(action) => orders::cancel_all_by_cloid(venue, by, &action.cancels),
        Action::Modify(action) => modify::one(venue, by, action),
        Action::BatchModify(action) => modify::all(venue, by, action),
        Action::ScheduleCancel(action) => schedule_cancel(venue, chain, by, action),
        Action::Noop(_) => Ok(plain()),
        Action::UpdateLeverage(action) => update_leverage(venue, chain, by, action),
        Action::ApproveAgent(action) => approve_agent(venue, chain, by, action),
        Action::UpdateIsolatedMargin(_)
        | Action::TwapOrder(_)
        | Action::TwapCancel(_)
        | Action::ReserveRequestWeight(_)
        | Action::CreateSubAccount(_)
        | Action::SubAccountTransfer(_)
        | Action::VaultTransfer(_)
        | Action::UsdSend(_)
        | Action::SpotSend(_)
        | Action::Withdraw3(_)
        | Action::UsdClassTransfer(_)
        | Action::SendAsset(_)
        | Action::ApproveBuilderFee(_) => {
            Err(Stop::refused(format!("Not simulated: {}", action.name())))
        }
    }
}

/// Whether an action holds an order that is not post-only.
fn takes(action: &Action) -> bool {
    let takes = |terms: &Terms| !matches!(terms, Terms::Limit { tif: Tif::Alo });
    match action {
        Action::Order(action) => action.orders.iter().any(|order| takes(&order.t)),
        Action::Modify(action) => takes(&action.order.t),
        Action::BatchModify(action) => action.modifies.iter().any(|change| takes(&change.order.t)),
        Action::Cancel(_)
        | Action::CancelByCloid(_)
        | Action::ScheduleCancel(_)
        | Action::Noop(_)
        | Action::UpdateLeverage(_)
        | Action::UpdateIsolatedMargin(_)
        | Action::TwapOrder(_)
        | Action::TwapCancel(_)
        | Action::ReserveRequestWeight(_)
        | Action::CreateSubAccount(_)
        | Action::SubAccountTransfer(_)
        | Action::VaultTransfer(_)
        | Action::UsdSend(_)
        | Action::SpotSend(_)
        | Action::Withdraw3(_)
        | Action::UsdClassTransfer(_)
        | Action::SendAsset(_)
        | Action::ApproveAgent(_)
        | Action::ApproveBuilderFee(_) => false,
    }
}

fn schedule_cancel(
    venue: &Hyperliquid,
    chain: &mut Chain,
    by: &By,
    action: &ScheduleCancel,
) -> Result<Value, Stop> {
    let account = by.account.clone();
    if let Some(time_ms) = action.time {
        let volume = {
            let world = venue.stage().world();
            chain.volume(world.core(), &account)
        };
        let required = venue.settings().schedule_volume;
        if volume < required.into() {
            return Err(Stop::refused(format!(
                "Cannot set scheduled cancel time until enough volume traded. Required: ${required}. Traded: ${}.",
                volume.round_dp(2).normalize(),
            )));
        }
        if time_ms < by.now_ms.saturating_add(LEAST_AHEAD_MS) {
            return Err(Stop::refused(
                "Scheduled cancel time must be at least 5 seconds from now.",
            ));
        }
        if chain.firings(&account, day(by.now_ms)) >= MOST_FIRINGS {
            return Err(Stop::refused(
                "Scheduled cancel triggered too many times today.",
            ));
        }
    }
    venue.learn(
        chain,
        &Fact::Schedule {
            account,
            time_ms: action.time,
        },
    )?;
    venue.schedule_changed();
    Ok(plain())
}

fn update_leverage(
    venue: &Hyperliquid,
    chain: &mut Chain,
    by: &By,
    action: &UpdateLeverage,
) -> Result<Value, Stop> {
    let perp = Market::of_asset(action.asset).filter(|market| !market.is_spot());
    let market = perp.ok_or_else(|| Stop::refused("Invalid asset"))?;
    if action.leverage == 0 || action.leverage > LEVERAGE {
        return Err(Stop::refused("Invalid leverage value"));
    }
    let key = market.key();
    let holds = {
        let world = venue.stage().world();
        let account = world.core().accounts().get(&by.account);
        let position = account.and_then(|account| account.positions.get(&key));
        position.is_some_and(|position| !position.qty.is_zero())
    };
    if holds && chain.leverage(&by.account, &key).cross != action.is_cross {
        return Err(Stop::refused(
            "Cannot switch leverage type with open position.",
        ));
    }
    let fact = Fact::Leverage {
        account: by.account.clone(),
        instrument: key,
        cross: action.is_cross,
        value: action.leverage,
    };
    venue.learn(chain, &fact)?;
    Ok(plain())
}

/// A new agent ends the one that had its name, at once.
fn approve_agent(
    venue: &Hyperliquid,
    chain: &mut Chain,
    by: &By,
    action: &ApproveAgent,
) -> Result<Value, Stop> {
    let signed = action.agent_name.as_deref().unwrap_or_default();
    let (name, until_ms) = agent_term(signed, by.now_ms)
        .ok_or_else(|| Stop::refused("Invalid agent name or validity."))?;
    let agent = action.agent_address.to_string();
    let taken = venue.relation(&agent).is_some()
        || chain
            .agent(&agent, by.now_ms)
            .is_some_and(|other| other.master != by.user || other.name != name);
    if taken && action.agent_address != NOBODY {
        return Err(Stop::refused("Extra agent already used."));
    }
    let before: Vec<String> = chain
        .agents_of(&by.user)
        .filter(|(_, agent)| agent.name == name)
        .map(|(address, _)| address.clone())
        .collect();
    let others = chain.agents_of(&by.user);
    let named = others
        .filter(|(_, agent)| !agent.name.is_empty() && agent.name != name)
        .count();
    let most = AGENTS_PER_SUB.saturating_mul(venue.subs_of(&by.user).count());
    if !name.is_empty() && named >= NAMED_AGENTS.saturating_add(most) {
        return Err(Stop::refused("Too many extra agents."));
    }
    for old in before.into_iter().filter(|old| *old != agent) {
        let forgotten = venue.settings().prunes;
        venue.learn(
            chain,
            &Fact::Revoked {
                agent: old,
                forgotten,
            },
        )?;
    }
    if action.agent_address != NOBODY {
        let master = by.user.clone();
        venue.learn(
            chain,
            &Fact::Approved {
                master,
                agent,
                name,
                until_ms,
            },
        )?;
    }
    Ok(plain())
}
