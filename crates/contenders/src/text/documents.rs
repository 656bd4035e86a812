//! Documents of three kinds that readers of JSON are compared on: messages of a social network, a
//! catalogue of events, coordinates of a map. Generated: the members, sizes and proportions of the files
//! `twitter.json`, `citm_catalog.json` and `canada.json`, and none of their content.

use std::fmt::Write as _;

use crate::mix::SplitMix;

/// A search's answer, indented by two: long strings, half of them Japanese, and many short members.
pub(super) fn messages(count: usize) -> Vec<u8> {
    let mut random = SplitMix(1);
    let all: Vec<String> = (0..count).map(|_| message(&mut random)).collect();
    let text = all.join(",\n");
    format!(
        r#"{{
  "statuses": [
{text}
  ],
  "search_metadata": {{
    "completed_in": 0.087,
    "query": "%E4%B8%80",
    "count": {count}
  }}
}}
"#
    )
    .into_bytes()
}

const TEXTS: [&str; 8] = [
    "\u{540d}\u{524d}:\u{524d}\u{7530}\u{3042}\u{3086}\u{307f}\\n\u{7b2c}\u{4e00}\u{5370}\u{8c61}:\u{306a}\u{3093}\u{304b}\u{6016}\u{3063}\u{ff01}",
    "RT @example: \u{3010}\u{62e1}\u{6563}\u{5e0c}\u{671b}\u{3011}\u{65b0}\u{3057}\u{3044}\u{672c}\u{304c}\u{51fa}\u{307e}\u{3057}\u{305f} http://t.co/Zb2hTsVaMv",
    "\u{4eca}\u{65e5}\u{306f}\u{3068}\u{3066}\u{3082}\u{3044}\u{3044}\u{5929}\u{6c17}\u{3067}\u{3059}\u{306d}\u{3002}\u{6563}\u{6b69}\u{306b}\u{884c}\u{304d}\u{307e}\u{3059} \u{1f31e}",
    "\u{6771}\u{4eac}\u{90fd}\u{306e}\u{66dc}\u{65e5}\u{3054}\u{3068}\u{306e}\u{96fb}\u{8eca}\u{306e}\u{6df7}\u{96d1}\u{3092}\u{8abf}\u{3079}\u{305f}\u{3002}\\n\\n#\u{7d71}\u{8a08}",
    "Reading the paper on parsing gigabytes of text a second, and then the code",
    "@example thank you, that was \\\"exactly\\\" what I was looking for! http://t.co/0Vq1u3Vn8A",
    "The weather in the north stays cold & clear until Sunday, then rain from the west",
    "caf\u{e9}s of the old town, one after another, in no particular order",
];

/// One of the texts.
fn one<'t>(random: &mut SplitMix, of: &[&'t str]) -> &'t str {
    of[random.word() as usize % of.len()]
}

fn message(random: &mut SplitMix) -> String {
    let id = 505_874_800_000_000_000 + random.word() % 100_000_000_000;
    let (user, followers) = (random.word() % 3_000_000_000, random.word() % 10_000);
    let (text, about) = (one(random, &TEXTS), one(random, &TEXTS));
    let color = random.word() % 0x100_0000;
    let second = random.word() % 60;
    let yes = |random: &mut SplitMix| random.word().is_multiple_of(3);
    let (default, protected, favorited) = (yes(random), yes(random), yes(random));
    let mentions = if yes(random) {
        format!(
            r#"[
          {{
            "screen_name": "example_{followers}",
            "name": "{}",
            "id": {user},
            "id_str": "{user}",
            "indices": [
              3,
              {}
            ]
          }}
        ]"#,
            text.chars().filter(|c| *c != '\\' && *c != '"').take(9).collect::<String>(),
            10 + second % 9
        )
    } else {
        "[]".to_owned()
    };
    let reply = if yes(random) { user.to_string() } else { "null".to_owned() };
    format!(
        r#"    {{
      "metadata": {{
        "result_type": "recent",
        "iso_language_code": "ja"
      }},
      "created_at": "Sun Aug 31 00:29:{second:02} +0000 2014",
      "id": {id},
      "id_str": "{id}",
      "text": "{text}",
      "source": "<a href=\"http://example.com/app\" rel=\"nofollow\">An app for messages</a>",
      "truncated": false,
      "in_reply_to_status_id": null,
      "in_reply_to_status_id_str": null,
      "in_reply_to_user_id": {reply},
      "in_reply_to_screen_name": null,
      "user": {{
        "id": {user},
        "id_str": "{user}",
        "name": "\u3042{followers}",
        "screen_name": "example_{followers}",
        "location": "",
        "description": "{about}",
        "url": null,
        "entities": {{
          "description": {{
            "urls": []
          }}
        }},
        "protected": {protected},
        "followers_count": {followers},
        "friends_count": {},
        "listed_count": {},
        "created_at": "Mon Dec 14 07:22:{second:02} +0000 2009",
        "favourites_count": {},
        "utc_offset": 32400,
        "time_zone": "Tokyo",
        "geo_enabled": false,
        "verified": false,
        "statuses_count": {},
        "lang": "ja",
        "contributors_enabled": false,
        "is_translator": false,
        "is_translation_enabled": false,
        "profile_background_color": "{color:06X}",
        "profile_background_image_url": "http://example.com/images/themes/theme1/bg.png",
        "profile_background_image_url_https": "https://example.com/images/themes/theme1/bg.png",
        "profile_background_tile": false,
        "profile_image_url": "http://example.com/profile_images/{id}/normal.jpeg",
        "profile_image_url_https": "https://example.com/profile_images/{id}/normal.jpeg",
        "profile_banner_url": "https://example.com/profile_banners/{user}/1409318784",
        "profile_link_color": "0084B4",
        "profile_sidebar_border_color": "C0DEED",
        "profile_sidebar_fill_color": "DDEEF6",
        "profile_text_color": "333333",
        "profile_use_background_image": true,
        "default_profile": {default},
        "default_profile_image": false,
        "following": false,
        "follow_request_sent": false,
        "notifications": false
      }},
      "geo": null,
      "coordinates": null,
      "place": null,
      "contributors": null,
      "retweet_count": {},
      "favorite_count": {},
      "entities": {{
        "hashtags": [],
        "symbols": [],
        "urls": [],
        "user_mentions": {mentions}
      }},
      "favorited": {favorited},
      "retweeted": false,
      "lang": "ja"
    }}"#,
        random.word() % 1000,
        random.word() % 20,
        random.word() % 100,
        random.word() % 100_000,
        random.word() % 500,
        random.word() % 10,
    )
}

/// Names by number and what is performed when for how much, indented by four: small objects of integers
/// in arrays, and white space.
pub(super) fn catalogue(count: usize) -> Vec<u8> {
    let mut random = SplitMix(2);
    let mut text = String::from("{\n    \"areaNames\": {\n");
    let names =
        ["1\u{e8}re cat\u{e9}gorie", "Arri\u{e8}re-sc\u{e8}ne central", "Balcon pair", "Parterre"];
    let areas: Vec<String> = (0..17)
        .map(|i| format!("        \"{}\": \"{} {i}\"", 205_705_993 + i, one(&mut random, &names)))
        .collect();
    text += &areas.join(",\n");
    text += "\n    },\n    \"blockNames\": {},\n    \"events\": {\n";
    let events: Vec<String> = (0..count).map(|i| event(&mut random, i as u64)).collect();
    text += &events.join(",\n");
    text += "\n    },\n    \"performances\": [\n";
    let performances: Vec<String> =
        (0..count).map(|i| performance(&mut random, i as u64)).collect();
    text += &performances.join(",\n");
    text +=
        "\n    ],\n    \"venueNames\": {\n        \"PLEYEL_PLEYEL\": \"Salle Pleyel\"\n    }\n}\n";
    text.into_bytes()
}

fn event(random: &mut SplitMix, i: u64) -> String {
    let id = 138_586_341 + i;
    let topic = 324_846_098 + random.word() % 20;
    let name = one(
        random,
        &["30th Anniversary Tour", "Berliner Philharmoniker", "Cour de musique", "Le Ch\u{f4}meur"],
    );
    format!(
        r#"        "{id}": {{
            "description": null,
            "id": {id},
            "logo": null,
            "name": "{name}",
            "subTopicIds": [
                337184269,
                337184283
            ],
            "subjectCode": null,
            "subtitle": null,
            "topicIds": [
                {topic},
                107888604
            ]
        }}"#
    )
}

fn performance(random: &mut SplitMix, i: u64) -> String {
    let category = 338_937_235 + random.word() % 100;
    let places = 1 + random.word() % 4;
    let (mut prices, mut categories) = (String::new(), String::new());
    for place in 0..places {
        let comma = if place == 0 { "" } else { ",\n" };
        let (amount, category) = (10_000 + random.word() % 30 * 2500, category + place);
        let _ = write!(
            prices,
            r#"{comma}                {{
                    "amount": {amount},
                    "audienceSubCategoryId": 337100890,
                    "seatCategoryId": {category}
                }}"#
        );
        let first = 205_705_993 + random.word() % 8;
        let areas: Vec<String> = (0..2 + random.word() % 6)
            .map(|area| {
                format!(
                    r#"                        {{
                            "areaId": {},
                            "blockIds": []
                        }}"#,
                    first + area
                )
            })
            .collect();
        let _ = write!(
            categories,
            r#"{comma}                {{
                    "areas": [
{}
                    ],
                    "seatCategoryId": {category}
                }}"#,
            areas.join(",\n")
        );
    }
    format!(
        r#"        {{
            "eventId": {},
            "id": {},
            "logo": null,
            "name": null,
            "prices": [
{prices}
            ],
            "seatCategories": [
{categories}
            ],
            "seatMapImage": null,
            "start": {},
            "venueCode": "PLEYEL_PLEYEL"
        }}"#,
        138_586_341 + i,
        339_887_544 + i,
        1_372_701_600_000 + random.word() % 10_000 * 900_000
    )
}

/// Rings of a map on one line: pairs of degrees with fifteen decimals, and nothing else.
pub(super) fn coordinates(count: usize) -> Vec<u8> {
    let mut random = SplitMix(3);
    let mut text = String::from(
        r#"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"Canada"},"geometry":{"type":"Polygon","coordinates":["#,
    );
    for ring in 0..count {
        text += if ring == 0 { "[" } else { ",\n[" };
        for point in 0..1 + random.word() % 230 {
            let comma = if point == 0 { "" } else { "," };
            let unit = |random: &mut SplitMix| (random.word() >> 11) as f64 / (1_u64 << 53) as f64;
            let (x, y) = (-140.0 + 88.0 * unit(&mut random), 42.0 + 41.0 * unit(&mut random));
            let _ = write!(text, "{comma}[{x:.15},{y:.15}]");
        }
        text.push(']');
    }
    text += "]}}]}\n";
    text.into_bytes()
}
