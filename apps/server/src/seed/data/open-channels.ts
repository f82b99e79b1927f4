import { bicycle } from '../drawings/bicycles.js';
import { slice } from '../drawings/bakery.js';
import { staged } from '../drawings/canvas.js';
import { floorLamp } from '../drawings/furniture.js';
import { cup, teapot } from '../drawings/pottery.js';
import { harbour, hills } from '../drawings/views.js';
import { line, talk, type DirectTalk, type SeedChannel } from './conversation.js';

export const OPEN_CHANNELS: readonly SeedChannel[] = [
  {
    name: 'Mill Street Bakery',
    owner: 'martha',
    isOpen: true,
    icon: ['wheat', [42, 64, 44]],
    members: ['nils', 'tarik', 'ada', 'ben', 'clara', 'david', 'emma', 'farid', 'greta', 'hugo', 'lena', 'samira'],
    moderators: ['tarik'],
    behind: { ada: 1, clara: 3, hugo: 6 },
    muted: { who: 'hugo', by: 'martha', days: 2 },
    talks: [
      talk(
        26,
        line('martha', 'This is the place for questions, wishes and praise. Complaints too, but with a photo please.', { pinnedBy: 'martha', reactions: { '❤️': ['ada', 'clara', 'greta', 'emma'], '🥐': ['ben', 'farid'] } }), // prettier-ignore
        line('greta', 'The school orders forty rolls for Monday. Is that possible?', { key: 'rolls' }),
        line('martha', 'On Mondays we sleep, but Sunday evening they are ready to collect.', { replyTo: 'rolls', reactions: { '🙏': ['greta'] } }), // prettier-ignore
      ),
      talk(
        13,
        line('clara', 'The carrot cake. I have no other words.', { pictures: [staged(slice({ layers: [[24, 58, 40], [40, 40, 94], [24, 58, 40], [40, 40, 94], [24, 58, 40]], icing: [40, 50, 95], topping: [26, 80, 52] }), 26)], reactions: { '😍': ['ada', 'emma', 'lena', 'samira'], '🥕': ['ben', 'david', 'martha'] } }), // prettier-ignore
        line('ben', 'How far ahead do I order a whole one?', { key: 'whole' }),
        line('martha', 'Two days, and tell us if there are nut allergies.', { replyTo: 'whole' }),
        line('ben', 'Perfect, then for Saturday.', { replyTo: 'whole' }),
        line('lena', 'Is the rye loaf made without yeast?', { key: 'yeast' }),
        line('nils', 'Only sourdough, flour, water and salt.', { replyTo: 'yeast', reactions: { '👏': ['lena', 'farid'] } }),
      ),
      talk(
        4,
        line('hugo', 'CHEAP OVENS, my cousin sells them, write to me!!!', { report: { by: 'emma', reason: 'Advertisement' } }),
        line('tarik', '@Hugo please not here. See the rules above.', { names: ['hugo'] }),
        line('david', 'Prices went up again, this is robbery', {
          report: { by: 'hugo', reason: 'He is rude', outcome: 'dismissed' },
        }),
        line('martha', '@David flour costs a third more than last year. We show the sums on the board in the shop.', { names: ['david'], reactions: { '👍': ['ada', 'greta', 'farid', 'samira'] } }), // prettier-ignore
        line('david', 'Fair enough, I read them. Sorry for the tone.', { reactions: { '❤️': ['martha', 'ada'] } }),
      ),
      talk(
        0.14,
        line('ada', 'Hello, are you open on Sunday?'),
        line('martha', 'From nine to one.'),
        line('ben', 'Can I order by message?', { key: 'order' }),
        line('martha', 'Gladly, or in the shop of this page.', { replyTo: 'order', before: 'Yes, or in the shop.' }),
        line('ada', 'Then see you on Sunday!', { reactions: { '👋': ['martha', 'nils'] } }),
        line('clara', 'Is there parking nearby?'),
      ),
    ],
  },
  {
    name: 'Harbour Cycles',
    owner: 'oscar',
    isOpen: true,
    icon: ['wheel', [190, 52, 34]],
    members: ['paula', 'quinn', 'ada', 'ben', 'david', 'farid', 'hugo', 'ines', 'karim'],
    moderators: ['paula'],
    behind: { ada: 1, karim: 4 },
    banned: { who: 'emma', by: 'oscar', days: 21 },
    talks: [
      talk(
        18,
        line('oscar', 'Ask us anything about wheels. Opening hours: ten to seven, Sundays noon to five.', { pinnedBy: 'paula' }),
        line('karim', 'My chain jumps on the smallest sprocket. New chain, or new everything?', { key: 'jumps' }),
        line('quinn', 'Bring it by, we measure it for free. Usually the chain is enough if it is younger than 3,000 km.', { replyTo: 'jumps', reactions: { '🔧': ['karim', 'paula'] } }), // prettier-ignore
        line('karim', 'It was the chain. Runs like butter.', {
          replyTo: 'jumps',
          reactions: { '🧈': ['quinn', 'oscar'], '👍': ['ada'] },
        }),
      ),
      talk(
        6,
        line('ada', 'First tour on the touring bike: 62 kilometres, no regrets.', { pictures: [hills('noon'), staged(bicycle({ frame: [142, 38, 32], bars: 'drop', panniers: [30, 60, 46] }), 90)], reactions: { '🚴': ['oscar', 'paula', 'ben', 'ines'], '😍': ['karim', 'farid'] } }), // prettier-ignore
        line('ines', 'Where is that? It looks like home.', { key: 'where' }),
        line('ada', 'Along the river and over the two hills behind it.', { replyTo: 'where' }),
        line('paula', 'Check the brake pads after that descent!'),
      ),
      talk(
        0.18,
        line('ben', 'Do you have the folding bicycle in yellow?'),
        line('oscar', 'Two left, in the window.', { reactions: { '💛': ['ben'] } }),
        line('farid', 'And is it allowed on the train?', { key: 'train' }),
        line('paula', 'Folded it counts as luggage, always.', { replyTo: 'train' }),
        line('david', 'Is my gravel bike ready yet?'),
      ),
    ],
  },
  {
    name: 'Tea after work',
    owner: 'ada',
    isOpen: true,
    icon: ['leaf', [140, 34, 36]],
    members: ['sora', 'clara', 'greta', 'ines', 'lena', 'samira', 'emma'],
    moderators: ['clara'],
    behind: { lena: 2, greta: 1 },
    talks: [
      talk(
        21,
        line('ada', 'A channel for those who switch the kettle on before they take their shoes off.', { reactions: { '🍵': ['clara', 'greta', 'samira', 'sora', 'ines'] } }), // prettier-ignore
        line('samira', 'Present.'),
        line('clara', 'What do you drink in the evening, without lying awake?', { key: 'evening' }),
        line('sora', 'Roasted green tea. Hardly any caffeine, and it smells of autumn.', { replyTo: 'evening' }),
        line('greta', 'Chamomile, like my grandmother. And she slept!', { replyTo: 'evening', reactions: { '😂': ['ada', 'clara', 'lena'] } }), // prettier-ignore
      ),
      talk(
        5,
        line('ines', 'My new pot. It pours without a drop, as promised.', { pictures: [staged(teapot({ glaze: [96, 26, 38], band: [52, 46, 84] }), 36)], reactions: { '😍': ['ada', 'sora', 'samira'] } }), // prettier-ignore
        line('lena', 'And I have the cups for it. We should meet.', { pictures: [staged(cup({ glaze: [348, 44, 72], band: [350, 50, 48] }), 214)], reactions: { '🫖': ['ines'] } }), // prettier-ignore
        line('ada', 'Sunday at mine? I have a table that seats eight, and a cake.', { key: 'sunday', pinnedBy: 'ada', reactions: { '🙋': ['clara', 'ines', 'lena', 'samira'] } }), // prettier-ignore
        line('samira', 'I come. Shall I bring something?', { replyTo: 'sunday' }),
        line('ada', 'Your stories.', { replyTo: 'sunday', reactions: { '❤️': ['samira', 'clara'] } }),
      ),
      talk(
        0.4,
        line('clara', 'Water at 80 degrees or at 90, for the green one?'),
        line('sora', '75, two minutes. Then 85 for the second pot.', { reactions: { '🙏': ['clara'] } }),
        line('greta', 'I had been boiling it for forty years…', { reactions: { '😂': ['ada', 'clara', 'samira', 'ines'] } }),
        line('emma', 'Never too late!'),
      ),
    ],
  },
  {
    name: 'Night ride',
    owner: 'karim',
    isOpen: true,
    icon: ['star', [250, 34, 36]],
    members: ['paula', 'quinn', 'ben', 'david', 'ines', 'ada'],
    talks: [
      talk(
        8,
        line('karim', 'Thursday, nine o’clock, at the crane. Lights on, helmets on, about 30 km.', { pinnedBy: 'karim', reactions: { '✅': ['paula', 'quinn', 'ben', 'ines'], '❌': ['david'] } }), // prettier-ignore
        line('david', 'I am away, ride one for me.'),
        line('ben', 'Is my city bike fast enough?', { key: 'fast' }),
        line('karim', 'We wait at every bridge.', { replyTo: 'fast', reactions: { '👍': ['ben'] } }),
      ),
      talk(
        7.2,
        line('ines', 'What a night!', { pictures: [harbour('evening'), hills('evening'), harbour('morning')], reactions: { '😍': ['karim', 'paula', 'ben', 'ada', 'david'] } }), // prettier-ignore
        line('quinn', 'One puncture, eleven people who knew better.', { reactions: { '😂': ['karim', 'paula', 'ines'] } }),
      ),
      talk(
        1.5,
        line('karim', 'Next one in two weeks. Who knows a route with fewer cobbles?'),
        line('paula', 'I do. It is a secret until then.'),
      ),
    ],
  },
  {
    name: 'North Light',
    owner: 'iris',
    isOpen: true,
    icon: ['lamp', [262, 30, 40]],
    members: ['liam', 'clara', 'emma', 'hugo', 'samira', 'lena'],
    behind: { samira: 2 },
    talks: [
      talk(
        10,
        line('iris', 'Tell us about your rooms; we tell you what light they lack.', { pinnedBy: 'iris' }),
        line('emma', 'North-facing study, four metres by three, brown desk. Gloomy!', { key: 'study' }),
        line('liam', 'A tripod lamp in the corner behind you, and a desk lamp from the left.', { replyTo: 'study', pictures: [staged(floorLamp({ shade: [20, 62, 62] }), 262)] }), // prettier-ignore
        line('emma', 'Ordered both. If it works, I owe you a cake.', { reactions: { '🎂': ['liam', 'iris'] } }),
      ),
      talk(0.9, line('samira', 'Do the shell chairs come in rose again?'), line('iris', 'From Friday on. Shall I put two aside?'), line('liam', '@Samira we keep them until the end of the week.', { names: ['samira'] })), // prettier-ignore
    ],
  },
];

export const DIRECT_TALKS: readonly DirectTalk[] = [
  {
    between: ['ada', 'martha'],
    unread: 1,
    talks: [
      talk(16, line('ada', 'Dear Martha, could you keep two walnut loaves every Friday for us?'), line('martha', 'With pleasure. On the name of Lindqvist?'), line('ada', 'Exactly. Thank you!', { reactions: { '❤️': ['martha'] } })), // prettier-ignore
      talk(
        0.3,
        line('martha', 'Your loaves are on the shelf behind the counter.'),
        line('ada', 'I am ten minutes late, sorry.'),
        line('martha', 'No hurry, the oven is still warm.'),
      ),
    ],
  },
  {
    between: ['helena', 'jonas'],
    unread: 0,
    talks: [
      talk(
        2,
        line('helena', 'Can you prepare the numbers for the bank by Thursday?'),
        line('jonas', 'Draft is in the folder. Two questions remain, I call you.'),
      ),
    ],
  },
  {
    between: ['oscar', 'david'],
    unread: 2,
    talks: [
      talk(
        0.6,
        line('david', 'Any news of the gravel bike?'),
        line('oscar', 'Frame is here, wheels tomorrow.'),
        line('david', 'I will bring coffee.'),
        line('david', 'Black?'),
      ),
    ],
  },
  {
    between: ['ada', 'clara'],
    unread: 1,
    talks: [
      talk(
        1.8,
        line('clara', 'Shall we go to the market together on Saturday?'),
        line('ada', 'At nine, by the fountain.'),
        line('clara', '🧺', { reactions: { '😄': ['ada'] } }),
      ),
    ],
  },
  {
    between: ['martha', 'nils'],
    unread: 0,
    talks: [
      talk(
        5,
        line('nils', 'May I try a loaf with beetroot next week?'),
        line('martha', 'Only if I get the first slice.'),
        line('nils', 'Deal.'),
      ),
    ],
  },
  {
    between: ['sora', 'ines'],
    unread: 1,
    talks: [talk(5.2, line('ines', 'The lid arrived with a chip. Here is a picture.', { pictures: [staged(teapot({ glaze: [96, 26, 38] }), 36)] }), line('sora', 'Oh no! A new one leaves today.'), line('ines', 'That was quick, thank you.'))], // prettier-ignore
  },
];
