//! What names things on the command line: ids, and the names of people and machines.

use handoff_protocol::{
    decision::{Target, limits, terms::TargetKind, wire::ReportedGrade},
    duration::ExactDuration,
    id::{AuthorizationId, DeliveryId, PrincipalId, RequestId, SignalId},
    principal::Role,
};

/// The id of a request.
pub(crate) fn request(text: &str) -> Result<RequestId, String> {
    RequestId::parse(text.trim()).map_err(|_| "an id looks like req_01M8…; `handoff list` shows them".to_owned())
}

/// The id of an authorization.
pub(crate) fn authorization(text: &str) -> Result<AuthorizationId, String> {
    AuthorizationId::parse(text.trim())
        .map_err(|_| "an id looks like auth_01M8…; `handoff show REQUEST` shows that of an answered request".to_owned())
}

/// The id of a delivery, or that of the push of a signal.
pub(crate) fn delivery(text: &str) -> Result<DeliveryId, String> {
    DeliveryId::parse(text.trim())
        .map_err(|_| "an id looks like dlv_01M8…; `handoff deliveries REQUEST` lists them".to_owned())
}

/// The id of a signal.
pub(crate) fn signal(text: &str) -> Result<SignalId, String> {
    SignalId::parse(text.trim()).map_err(|_| "an id looks like sig_01M8…; polls and callbacks carry it".to_owned())
}

/// A grade that can be reported.
pub(crate) fn grade(text: &str) -> Result<ReportedGrade, String> {
    match text {
        "delivered" => Ok(ReportedGrade::Delivered),
        "seen" => Ok(ReportedGrade::Seen),
        _ => Err("expected `delivered` or `seen`; what was sent and what was answered is known here".to_owned()),
    }
}

/// The number of a rung.
pub(crate) fn rung(text: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| {
        let last = limits::RUNGS.saturating_sub(1);
        format!("expected the number of a rung, from 0 to {last}; `handoff show REQUEST` lists them")
    })
}

/// How many people must agree.
pub(crate) fn quorum(text: &str) -> Result<u64, String> {
    let quorum = text.trim().parse().ok().filter(|quorum| *quorum > 0);
    quorum.ok_or_else(|| "expected a number of people, 1 or more, as many as the server takes (5 by itself)".to_owned())
}

/// Whom a request can be passed on to.
pub(crate) fn target(text: &str) -> Result<Target, String> {
    let text = text.trim();
    let target = |kind: TargetKind, value: &str| Target { kind, value: value.to_owned() };
    if text == "anyone" {
        return Ok(Target::anyone());
    }
    if let Some(role) = text.strip_prefix("role:").filter(|role| Role::ALL.iter().any(|(name, _)| name == role)) {
        return Ok(target(TargetKind::Role, role));
    }
    for (prefix, kind) in [("group:", TargetKind::Group), ("rotation:", TargetKind::Rotation)] {
        if let Some(name) = text.strip_prefix(prefix).filter(|name| !name.is_empty()) {
            return Ok(target(kind, name));
        }
    }
    if let Ok(person @ PrincipalId::User(_)) = PrincipalId::parse(text) {
        return Ok(target(TargetKind::Principal, &person.to_string()));
    }
    Err("expected a person's id such as usr_01M8…, `role:viewer`, `role:editor`, `role:admin`, `group:NAME`, \
         `rotation:NAME`, or `anyone`"
        .to_owned())
}

/// The name of a person or a machine.
pub(crate) fn display(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() {
        return Err("a name cannot be empty: receipts and lists show it".to_owned());
    }
    Ok(name.to_owned())
}

/// A duration; what is spelled as people do elsewhere is mended.
pub(crate) fn duration(text: &str) -> Result<ExactDuration, String> {
    let text = text.trim();
    ExactDuration::parse(text).map_err(|_| match meant(text) {
        Some(meant) => format!("write it as {meant}"),
        None => "expected weeks, days, hours, minutes or seconds such as PT30M, PT4H, P2D or P1W".to_owned(),
    })
}

/// What `4h` or `90 min` means.
fn meant(text: &str) -> Option<ExactDuration> {
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let (count, unit) = text.split_at_checked(digits)?;
    let spelled = match unit.trim().to_ascii_lowercase().as_str() {
        "s" | "sec" | "seconds" => format!("PT{count}S"),
        "m" | "min" | "minutes" => format!("PT{count}M"),
        "h" | "hour" | "hours" => format!("PT{count}H"),
        "d" | "day" | "days" => format!("P{count}D"),
        "w" | "week" | "weeks" => format!("P{count}W"),
        _ => return None,
    };
    ExactDuration::parse(&spelled).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_in_another_spelling_is_mended_and_nonsense_is_not_repeated() {
        assert_eq!(duration("PT4H").unwrap(), ExactDuration::from_hours(4));
        for (text, mend) in [("4h", "PT4H"), ("90 min", "PT1H30M"), ("2d", "P2D"), ("1w", "P7D")] {
            assert_eq!(duration(text).unwrap_err(), format!("write it as {mend}"));
        }
        for text in ["", "hunter2", "4", "P1Y"] {
            assert!(duration(text).unwrap_err().starts_with("expected weeks, days"), "{text}");
        }
    }
}
