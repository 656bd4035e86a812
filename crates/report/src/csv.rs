//! One line per contender and case, for spreadsheets (RFC 4180).

use fathom_measure::result::Run;

use crate::view::lines;

const HEADER: &str = "family,workload,contender,version,samples,ns_min,ns_median,ns_mad,ns_p95,\
    bytes,items,peak_bytes,clock,baseline,ratio,ratio_low,ratio_high,p_adjusted,verdict,failure,\
    ns_user,ns_system,minor_faults,major_faults,voluntary_switches,involuntary_switches";

/// A whole run.
#[must_use]
pub fn run(run: &Run) -> String {
    let mut text = format!("{HEADER}\n");
    for case in &run.cases {
        for line in lines(case) {
            let number = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
            let (s, c) = (line.summary, line.comparison);
            let u = case.judged.usage[line.number];
            let verdict = match (c.map(|c| &c.verdict), line.is_baseline) {
                (Some(verdict), _) => verdict.word(),
                (None, true) => "baseline",
                (None, false) => "",
            };
            let fields = [
                case.family.clone(),
                case.workload.to_string(),
                line.row.id.clone(),
                line.row.about.version.clone(),
                s.map_or_else(String::new, |s| s.samples.to_string()),
                number(s.map(|s| s.ns_min)),
                number(s.map(|s| s.ns_median)),
                number(s.map(|s| s.ns_mad)),
                number(s.map(|s| s.ns_p95)),
                case.work.bytes.to_string(),
                case.work.items.to_string(),
                line.row.peak_bytes.to_string(),
                case.judged.clock.words().to_owned(),
                case.contenders[case.roles.baseline].id.clone(),
                number(c.and_then(|c| c.ratio)),
                number(c.and_then(|c| c.interval).map(|i| i.low)),
                number(c.and_then(|c| c.interval).map(|i| i.high)),
                number(c.map(|c| c.p_adjusted)),
                verdict.to_owned(),
                line.failure.map_or_else(String::new, ToString::to_string),
                number(u.and_then(|u| u.ns_user)),
                number(u.and_then(|u| u.ns_system)),
                number(u.map(|u| u.minor_faults)),
                number(u.map(|u| u.major_faults)),
                number(u.map(|u| u.voluntary_switches)),
                number(u.map(|u| u.involuntary_switches)),
            ];
            let fields: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
            text += &fields.join(",");
            text.push('\n');
        }
    }
    text
}

pub(crate) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_when_they_must_be() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
