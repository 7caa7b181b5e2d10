// Emoji by the shortcodes that Slack uses; a shortcode that is not here stays as it was typed.

import { el } from "./dom.js";

const TABLE = new Map(
  [
    "smile 😄|smiley 😃|grinning 😀|grin 😁|laughing 😆|satisfied 😆|sweat_smile 😅|joy 😂|rofl 🤣|slightly_smiling_face 🙂",
    "upside_down_face 🙃|wink 😉|blush 😊|innocent 😇|heart_eyes 😍|star-struck 🤩|kissing_heart 😘|yum 😋|stuck_out_tongue 😛",
    "thinking_face 🤔|thinking 🤔|neutral_face 😐|expressionless 😑|no_mouth 😶|smirk 😏|unamused 😒|face_with_rolling_eyes 🙄|grimacing 😬",
    "relieved 😌|pensive 😔|sleepy 😪|sleeping 😴|mask 😷|nauseated_face 🤢|hot_face 🥵|cold_face 🥶|dizzy_face 😵|exploding_head 🤯",
    "partying_face 🥳|sunglasses 😎|nerd_face 🤓|confused 😕|worried 😟|slightly_frowning_face 🙁|open_mouth 😮|hushed 😯|astonished 😲",
    "flushed 😳|pleading_face 🥺|fearful 😨|cold_sweat 😰|cry 😢|sob 😭|scream 😱|disappointed 😞|sweat 😓|weary 😩|tired_face 😫|triumph 😤",
    "rage 😡|angry 😠|skull 💀|hankey 💩|poop 💩|ghost 👻|alien 👽|robot_face 🤖|robot 🤖|see_no_evil 🙈|hear_no_evil 🙉|speak_no_evil 🙊",
    "melting_face 🫠|saluting_face 🫡",
    "+1 👍|thumbsup 👍|-1 👎|thumbsdown 👎|ok_hand 👌|wave 👋|raised_hand ✋|hand ✋|clap 👏|raised_hands 🙌|pray 🙏|muscle 💪|point_up ☝️",
    "point_down 👇|point_left 👈|point_right 👉|point_up_2 👆|crossed_fingers 🤞|v ✌️|the_horns 🤘|handshake 🤝|writing_hand ✍️|eyes 👀",
    "eye 👁️|brain 🧠|facepalm 🤦|shrug 🤷|man-shrugging 🤷‍♂️|woman-shrugging 🤷‍♀️|ear 👂|nose 👃|bust_in_silhouette 👤",
    "busts_in_silhouette 👥|technologist 🧑‍💻|construction_worker 👷|cop 👮|detective 🕵️|ninja 🥷|superhero 🦸|baby 👶",
    "heart ❤️|orange_heart 🧡|yellow_heart 💛|green_heart 💚|blue_heart 💙|purple_heart 💜|black_heart 🖤|white_heart 🤍|broken_heart 💔",
    "sparkling_heart 💖|two_hearts 💕|100 💯|boom 💥|collision 💥|dizzy 💫|speech_balloon 💬|thought_balloon 💭|zzz 💤|anger 💢",
    "sweat_drops 💦|dash 💨",
    "white_check_mark ✅|heavy_check_mark ✔️|ballot_box_with_check ☑️|x ❌|negative_squared_cross_mark ❎|heavy_multiplication_x ✖️",
    "no_entry ⛔|no_entry_sign 🚫|stop_sign 🛑|octagonal_sign 🛑|warning ⚠️|exclamation ❗|heavy_exclamation_mark ❗|grey_exclamation ❕",
    "question ❓|grey_question ❔|bangbang ‼️|interrobang ⁉️|information_source ℹ️|sos 🆘|new 🆕|up 🆙|cool 🆒|free 🆓|ok 🆗|id 🆔|vs 🆚",
    "recycle ♻️|infinity ♾️|heavy_plus_sign ➕|heavy_minus_sign ➖|heavy_division_sign ➗|tm ™️|copyright ©️|registered ®️|hash #️⃣",
    "asterisk *️⃣|zero 0️⃣|one 1️⃣|two 2️⃣|three 3️⃣|four 4️⃣|five 5️⃣|six 6️⃣|seven 7️⃣|eight 8️⃣|nine 9️⃣|keycap_ten 🔟|1234 🔢",
    "abc 🔤",
    "red_circle 🔴|large_orange_circle 🟠|orange_circle 🟠|large_yellow_circle 🟡|yellow_circle 🟡|large_green_circle 🟢|green_circle 🟢",
    "large_blue_circle 🔵|blue_circle 🔵|large_purple_circle 🟣|purple_circle 🟣|large_brown_circle 🟤|black_circle ⚫|white_circle ⚪",
    "radio_button 🔘|large_red_square 🟥|red_square 🟥|large_orange_square 🟧|large_yellow_square 🟨|large_green_square 🟩",
    "large_blue_square 🟦|large_purple_square 🟪|black_large_square ⬛|white_large_square ⬜|black_medium_square ◼️",
    "white_medium_square ◻️|black_small_square ▪️|white_small_square ▫️|large_blue_diamond 🔷|large_orange_diamond 🔶",
    "small_blue_diamond 🔹|small_orange_diamond 🔸|small_red_triangle 🔺|small_red_triangle_down 🔻|diamond_shape_with_a_dot_inside 💠",
    "arrow_forward ▶️|arrow_backward ◀️|black_right_pointing_triangle ▶️|pause_button ⏸️|double_vertical_bar ⏸️",
    "black_square_for_stop ⏹️|stop_button ⏹️|record_button ⏺️|play_or_pause_button ⏯️",
    "black_right_pointing_triangle_with_double_vertical_bar ⏯️|next_track_button ⏭️",
    "black_right_pointing_double_triangle_with_vertical_bar ⏭️|previous_track_button ⏮️|fast_forward ⏩|rewind ⏪|arrow_double_up ⏫",
    "arrow_double_down ⏬|arrow_up_small 🔼|arrow_down_small 🔽|arrow_up ⬆️|arrow_down ⬇️|arrow_left ⬅️|arrow_right ➡️",
    "arrow_upper_right ↗️|arrow_lower_right ↘️|arrow_upper_left ↖️|arrow_lower_left ↙️|left_right_arrow ↔️|arrow_up_down ↕️",
    "leftwards_arrow_with_hook ↩️|arrow_right_hook ↪️|arrow_heading_up ⤴️|arrow_heading_down ⤵️|arrows_counterclockwise 🔄",
    "arrows_clockwise 🔃|repeat 🔁|repeat_one 🔂|twisted_rightwards_arrows 🔀|back 🔙|end 🔚|on 🔛|soon 🔜|top 🔝",
    "hourglass ⌛|hourglass_flowing_sand ⏳|watch ⌚|alarm_clock ⏰|stopwatch ⏱️|timer_clock ⏲️|mantelpiece_clock 🕰️|clock1 🕐|clock2 🕑",
    "clock3 🕒|clock4 🕓|clock5 🕔|clock6 🕕|clock7 🕖|clock8 🕗|clock9 🕘|clock10 🕙|clock11 🕚|clock12 🕛|calendar 📆|date 📅",
    "spiral_calendar_pad 🗓️|spiral_calendar 🗓️",
    "construction 🚧|rotating_light 🚨|vertical_traffic_light 🚦|traffic_light 🚥|checkered_flag 🏁|triangular_flag_on_post 🚩",
    "waving_white_flag 🏳️|waving_black_flag 🏴|rainbow-flag 🏳️‍🌈|rocket 🚀|ship 🚢|anchor ⚓|airplane ✈️|small_airplane 🛩️",
    "flying_saucer 🛸|helicopter 🚁|train 🚋|train2 🚆|bullettrain_front 🚅|bullettrain_side 🚄|steam_locomotive 🚂|railway_car 🚃|metro 🚇",
    "station 🚉|bus 🚌|taxi 🚕|car 🚗|truck 🚚|ambulance 🚑|fire_engine 🚒|police_car 🚓|tractor 🚜|bike 🚲|fuelpump ⛽|busstop 🚏|motorway 🛣️",
    "railway_track 🛤️",
    "package 📦|inbox_tray 📥|outbox_tray 📤|mailbox 📫|envelope ✉️|email 📧|e-mail 📧|incoming_envelope 📨|envelope_with_arrow 📩",
    "postbox 📮|memo 📝|pencil 📝|pencil2 ✏️|page_facing_up 📄|page_with_curl 📃|scroll 📜|clipboard 📋|bookmark_tabs 📑|bookmark 🔖",
    "bar_chart 📊|chart_with_upwards_trend 📈|chart_with_downwards_trend 📉|chart 💹|file_folder 📁|open_file_folder 📂",
    "card_index_dividers 🗂️|wastebasket 🗑️|pushpin 📌|round_pushpin 📍|paperclip 📎|link 🔗|scissors ✂️|lock 🔒|unlock 🔓",
    "closed_lock_with_key 🔐|key 🔑|old_key 🗝️|hammer 🔨|wrench 🔧|hammer_and_wrench 🛠️|gear ⚙️|nut_and_bolt 🔩|toolbox 🧰|magnet 🧲",
    "shield 🛡️|test_tube 🧪|petri_dish 🧫|microscope 🔬|telescope 🔭|satellite_antenna 📡|thermometer 🌡️|broom 🧹|ladder 🪜|bricks 🧱",
    "label 🏷️|ticket 🎫|admission_tickets 🎟️|newspaper 📰|books 📚|book 📖|open_book 📖|notebook 📓|ledger 📒|receipt 🧾|moneybag 💰",
    "dollar 💵|gem 💎|balance_scale ⚖️|scales ⚖️|chains ⛓️|hook 🪝|compass 🧭|world_map 🗺️",
    "computer 💻|desktop_computer 🖥️|keyboard ⌨️|printer 🖨️|floppy_disk 💾|cd 💿|iphone 📱|telephone ☎️|phone ☎️|telephone_receiver 📞",
    "battery 🔋|electric_plug 🔌|bulb 💡|flashlight 🔦|candle 🕯️|tv 📺|camera 📷|video_camera 📹|movie_camera 🎥|bell 🔔|no_bell 🔕",
    "loudspeaker 📢|mega 📣|speaker 🔈|sound 🔉|loud_sound 🔊|mute 🔇|microphone 🎤|headphones 🎧|musical_note 🎵|mag 🔍|mag_right 🔎",
    "tada 🎉|confetti_ball 🎊|balloon 🎈|gift 🎁|trophy 🏆|first_place_medal 🥇|second_place_medal 🥈|third_place_medal 🥉|sports_medal 🏅",
    "medal 🎖️|star ⭐|star2 🌟|sparkles ✨|zap ⚡|fire 🔥|snowflake ❄️|snowman ⛄|sunny ☀️|partly_sunny ⛅|cloud ☁️|rain_cloud 🌧️",
    "thunder_cloud_and_rain ⛈️|lightning 🌩️|tornado 🌪️|fog 🌫️|rainbow 🌈|umbrella ☂️|ocean 🌊|droplet 💧|earth_africa 🌍",
    "earth_americas 🌎|earth_asia 🌏|globe_with_meridians 🌐|full_moon 🌕|new_moon 🌑|crescent_moon 🌙|sunrise 🌅|city_sunset 🌆",
    "night_with_stars 🌃|volcano 🌋|mountain ⛰️|ice_cube 🧊",
    "seedling 🌱|evergreen_tree 🌲|deciduous_tree 🌳|palm_tree 🌴|cactus 🌵|herb 🌿|four_leaf_clover 🍀|fallen_leaf 🍂|mushroom 🍄|rose 🌹",
    "sunflower 🌻|bug 🐛|ant 🐜|bee 🐝|honeybee 🐝|ladybug 🐞|beetle 🐞|spider 🕷️|snail 🐌|turtle 🐢|snake 🐍|octopus 🐙|whale 🐳|dolphin 🐬",
    "fish 🐟|shark 🦈|crab 🦀|penguin 🐧|chicken 🐔|duck 🦆|eagle 🦅|owl 🦉|cat 🐱|dog 🐶|fox_face 🦊|bear 🐻|panda_face 🐼|koala 🐨|lion_face 🦁",
    "tiger 🐯|cow 🐮|pig 🐷|monkey_face 🐵|unicorn_face 🦄|unicorn 🦄|rabbit 🐰|hamster 🐹|sloth 🦥|dragon 🐉|t-rex 🦖|feet 🐾",
    "coffee ☕|tea 🍵|beer 🍺|beers 🍻|wine_glass 🍷|champagne 🍾|clinking_glasses 🥂|pizza 🍕|hamburger 🍔|taco 🌮|doughnut 🍩|cookie 🍪",
    "cake 🍰|birthday 🎂|apple 🍎|banana 🍌|cherries 🍒|strawberry 🍓|watermelon 🍉|lemon 🍋|avocado 🥑|carrot 🥕|popcorn 🍿|ramen 🍜|sushi 🍣",
    "bread 🍞|cheese_wedge 🧀|egg 🥚|salt 🧂|spoon 🥄",
    "soccer ⚽|basketball 🏀|football 🏈|tennis 🎾|dart 🎯|bowling 🎳|game_die 🎲|jigsaw 🧩|video_game 🎮|joystick 🕹️|crystal_ball 🔮",
    "magic_wand 🪄|performing_arts 🎭|art 🎨|guitar 🎸|drum_with_drumsticks 🥁|crown 👑|tophat 🎩|mortar_board 🎓",
    "helmet_with_white_cross ⛑️|eyeglasses 👓|lab_coat 🥼|house 🏠|office 🏢|hospital 🏥|bank 🏦|factory 🏭|building_construction 🏗️",
    "tent ⛺|stadium 🏟️|bridge_at_night 🌉|door 🚪|bed 🛏️|shopping_trolley 🛒|luggage 🧳|nazar_amulet 🧿|adhesive_bandage 🩹|pill 💊",
    "syringe 💉|dna 🧬|bomb 💣|firecracker 🧨|gun 🔫|knife 🔪|dagger_knife 🗡️|crossed_swords ⚔️|coffin ⚰️|toilet 🚽|roll_of_paper 🧻",
    "sponge 🧽|soap 🧼|put_litter_in_its_place 🚮|potable_water 🚰|wheelchair ♿|parking 🅿️|children_crossing 🚸|underage 🔞",
    "biohazard_sign ☣️|radioactive_sign ☢️|atom_symbol ⚛️|peace_symbol ☮️|yin_yang ☯️|fleur_de_lis ⚜️|trident 🔱|o ⭕|m Ⓜ️",
    "flag-us 🇺🇸|us 🇺🇸|flag-gb 🇬🇧|gb 🇬🇧|flag-fr 🇫🇷|fr 🇫🇷|flag-de 🇩🇪|de 🇩🇪|flag-es 🇪🇸|flag-it 🇮🇹|flag-jp 🇯🇵|jp 🇯🇵|flag-ca 🇨🇦",
    "flag-eu 🇪🇺",
  ]
    .flatMap((row) => row.split("|"))
    .map((pair) => [pair.slice(0, pair.indexOf(" ")), pair.slice(pair.indexOf(" ") + 1)]),
);

const TONES = { "skin-tone-2": "\u{1F3FB}", "skin-tone-3": "\u{1F3FC}", "skin-tone-4": "\u{1F3FD}", "skin-tone-5": "\u{1F3FE}", "skin-tone-6": "\u{1F3FF}" };

/** Sticky: matches `:name:` or `:name::skin-tone-3:` exactly at `lastIndex`. */
export const EMOJI_PATTERN = /:([a-z0-9_+'-]+):(?::(skin-tone-[2-6]):)?/y;

/** The picture for a shortcode, named for assistive technology; null for an unknown one. */
export function emojiNode(name, tone, unicode) {
  const character = unicode ? fromCodePoints(unicode) : TABLE.get(name);
  if (!character) return null;
  const shown = tone ? character.replace(/\uFE0F$/, "") + TONES[tone] : character;
  return el("span", { class: "emoji", role: "img", "aria-label": name.replace(/[_-]/g, " "), title: `:${name}:` }, shown);
}

/** Shortcodes that begin with, then that contain, what was typed. */
export function findEmoji(typed, limit = 8) {
  const names = [...TABLE.keys()];
  const first = names.filter((name) => name.startsWith(typed));
  const later = names.filter((name) => !name.startsWith(typed) && name.includes(typed));
  return [...first, ...later].slice(0, limit).map((name) => ({ name, character: TABLE.get(name) }));
}

/** Slack writes code points as `1f44d-1f3fd`. */
function fromCodePoints(unicode) {
  const points = unicode.split("-").map((hex) => Number.parseInt(hex, 16));
  return points.every((point) => point > 0 && point <= 0x10ffff) ? String.fromCodePoint(...points) : null;
}
