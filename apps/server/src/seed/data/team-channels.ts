import { teapot } from '../drawings/pottery.js';
import { bicycle } from '../drawings/bicycles.js';
import { croissant, loaf } from '../drawings/bakery.js';
import { pendant } from '../drawings/furniture.js';
import { staged } from '../drawings/canvas.js';
import { harbour } from '../drawings/views.js';
import { line, talk, type SeedChannel, type Talk } from './conversation.js';
import type { Who } from './people.js';

/** What is said on any day, between who opens and who helps. */
const ROUTINE: readonly (readonly (readonly [speaker: number, text: string])[])[] = [
  [
    [0, 'Good morning! Who opens today?'],
    [1, 'I do. The keys are with me.'],
    [0, 'Thank you. The delivery comes at ten.'],
  ],
  [
    [1, 'We are out of small change again.'],
    [0, 'I am passing the bank at noon.'],
  ],
  [
    [0, 'Two people called in sick. Can anybody take the afternoon?'],
    [1, 'I can stay until six.'],
    [0, 'You save my day.'],
  ],
  [
    [1, 'The card reader needed a restart, it works now.'],
    [0, 'Please write that into the book, they want to replace it.'],
  ],
  [
    [0, 'Yesterday was the best Saturday since spring!'],
    [1, 'My feet know.'],
    [0, 'Cake is in the fridge, the left shelf is for us.'],
  ],
  [
    [1, 'Somebody left an umbrella, blue with dots.'],
    [0, 'Put it behind the counter, they always come back.'],
  ],
  [
    [0, 'Reminder: stocktaking on Thursday after closing.'],
    [1, 'I will bring the lists.'],
    [0, 'And I the pizza.'],
  ],
  [
    [1, 'The customer from Tuesday is very happy, says thanks to all.'],
    [0, 'Lovely. That goes onto the wall.'],
  ],
];

/** A talk every other day, for weeks. */
function routine(speakers: readonly [Who, Who], count: number): Talk[] {
  return Array.from({ length: count }, (_, at) => {
    const lines = ROUTINE[at % ROUTINE.length] ?? [];
    return talk(
      4 + (count - at) * 2 + 0.3 * (at % 3),
      ...lines.map(([speaker, text]) => line(speakers[speaker] ?? speakers[0], text)),
    );
  });
}

export const TEAM_CHANNELS: readonly SeedChannel[] = [
  {
    name: 'Mill Street Bakery: team',
    owner: 'martha',
    icon: ['wheat', [28, 58, 46]],
    members: ['nils', 'tarik', 'rosa'],
    moderators: ['tarik'],
    behind: { nils: 2 },
    talks: [
      ...routine(['martha', 'nils'], 20),
      talk(
        3,
        line('martha', 'New plan for the week is up. Ovens at three, first batch at five, the shop opens at six. Please tell me by tonight what does not fit.', { pinnedBy: 'martha', key: 'plan', reactions: { '👍': ['nils', 'tarik', 'rosa'] } }), // prettier-ignore
        line('tarik', 'Friday early is fine for me.', { replyTo: 'plan' }),
        line('rosa', 'Could I swap Saturday? My sister gets married 🎉', { replyTo: 'plan', reactions: { '🎉': ['martha', 'nils', 'tarik'], '❤️': ['martha'] } }), // prettier-ignore
        line('nils', 'I take Saturday.', { replyTo: 'plan', reactions: { '🙏': ['rosa'] } }),
      ),
      talk(
        1.2,
        line('nils', 'First loaves with the new rye. Crust is darker, crumb is perfect.', { pictures: [staged(loaf({ crust: [22, 50, 27] }), 36), staged(croissant, 42)], reactions: { '😍': ['martha', 'rosa'], '🔥': ['tarik'] } }), // prettier-ignore
        line('martha', 'Ten minutes less at the end, I would say. But what a colour!'),
        line('rosa', 'The old town sold out by eleven.', { before: 'The old town sold out by ten.' }),
      ),
      talk(
        0.16,
        line('martha', 'Good morning! Who opens today?'),
        line('nils', 'I do. The keys are with me.'),
        line('martha', '@Nils the flour comes at ten, one pallet more than usual.', { names: ['nils'] }),
        line('nils', 'I will make room for it.', { reactions: { '👍': ['martha'] } }),
        line('tarik', 'wrong channel, sorry', { isDeleted: true }),
        line('nils', 'It is here, one sack is missing.', { key: 'sack' }),
        line('martha', 'I am calling the mill.', { replyTo: 'sack' }),
        line('martha', 'They bring it tomorrow.'),
      ),
    ],
  },
  {
    name: 'Harbour Cycles: team',
    owner: 'oscar',
    icon: ['wheel', [200, 58, 40]],
    members: ['paula', 'quinn'],
    moderators: ['paula'],
    behind: { quinn: 1 },
    talks: [
      ...routine(['oscar', 'quinn'], 12),
      talk(
        2.1,
        line('paula', 'The gravel frames are in! Three orange, two green.', { pictures: [staged(bicycle({ frame: [20, 80, 50], bars: 'drop', tyre: 22 }), 28)], reactions: { '🚲': ['oscar', 'quinn'] } }), // prettier-ignore
        line('quinn', 'One box had a dent, the fork is fine. Pictures went to the carrier.'),
        line('oscar', 'Which customer is first on the list?', { key: 'first' }),
        line('paula', 'David, since March. I write to him now.', { replyTo: 'first' }),
      ),
      talk(
        0.2,
        line('oscar', 'Workshop is full until Wednesday. Please promise nothing before that.', {
          pinnedBy: 'oscar',
          names: ['paula', 'quinn'],
        }),
        line('quinn', 'Understood. There is a cargo bike with a broken axle though.', { key: 'axle' }),
        line('paula', 'That family needs it for school. I stay longer tonight.', {
          replyTo: 'axle',
          reactions: { '💪': ['oscar', 'quinn'] },
        }),
        line('oscar', 'Then dinner is on me.'),
      ),
    ],
  },
  {
    name: 'Kettle & Clay: studio',
    owner: 'sora',
    icon: ['pot', [12, 46, 50]],
    members: ['edith'],
    talks: [
      ...routine(['sora', 'edith'], 6),
      talk(
        1.1,
        line('edith', 'The kiln is open. All but one survived, and look at that blue!', { pictures: [staged(teapot({ glaze: [190, 46, 44], band: [42, 60, 88] }), 36), staged(teapot({ glaze: [14, 50, 50], band: [38, 50, 86] }), 200)], reactions: { '😍': ['sora'], '🔥': ['sora'] } }), // prettier-ignore
        line('sora', 'Best batch this year. The one that cracked, we mend it with gold and keep it.'),
        line('edith', 'I hoped that you would say that.', { reactions: { '❤️': ['sora'] } }),
      ),
    ],
  },
  {
    name: 'North Light: showroom',
    owner: 'iris',
    icon: ['lamp', [232, 34, 36]],
    members: ['liam'],
    talks: [
      ...routine(['iris', 'liam'], 5),
      talk(
        0.7,
        line('liam', 'New window: three pendants over the long table. People stop.', { pictures: [staged(pendant({ shade: [164, 42, 26] }), 160)] }), // prettier-ignore
        line('iris', 'They should! Dim them to forty after dark, please.'),
        line('liam', 'Done.'),
      ),
    ],
  },
  {
    name: 'Holding: owners',
    owner: 'helena',
    icon: ['anchor', [218, 48, 32]],
    members: ['jonas', 'martha', 'oscar', 'sora', 'iris'],
    moderators: ['jonas'],
    behind: { martha: 1, oscar: 3, iris: 2 },
    talks: [
      talk(
        30,
        line('helena', 'Welcome to the channel of us all. Numbers come on the first of each month, everything else whenever it happens.', { pinnedBy: 'helena' }), // prettier-ignore
        line('jonas', 'And please send me your receipts by the fifth. I know where you live.', { reactions: { '😂': ['martha', 'oscar', 'sora', 'iris'], '🙈': ['oscar'] } }), // prettier-ignore
      ),
      talk(
        9,
        line('jonas', 'The month in short: orders up by eleven per cent, the bakery by nineteen, lamps as always in November.', { key: 'month', reactions: { '🎉': ['helena', 'martha', 'sora', 'iris'], '📈': ['oscar'] } }), // prettier-ignore
        line('martha', 'Nineteen! I have to tell the ovens.', { replyTo: 'month' }),
        line('oscar', 'It rained for three weeks. I am happy with zero.', { replyTo: 'month', reactions: { '☔': ['helena'] } }),
        line('helena', 'You all did this. Dinner at the harbour on the twelfth?', { key: 'dinner', reactions: { '🙋': ['jonas', 'martha', 'oscar', 'sora', 'iris'] } }), // prettier-ignore
        line('iris', 'I bring light.', { replyTo: 'dinner' }),
        line('sora', 'And I the cups.', { replyTo: 'dinner' }),
      ),
      talk(
        0.5,
        line('helena', 'This was the view from the office just now.', { pictures: [harbour('evening'), harbour('noon')], reactions: { '😍': ['jonas', 'iris', 'sora'] } }), // prettier-ignore
        line('jonas', '@Martha @Oscar the insurer needs your inventories by Friday.', { names: ['martha', 'oscar'] }),
        line('martha', 'Mine is on its way.', { reactions: { '👍': ['jonas'] } }),
        line('sora', 'Ours too, with every cup counted.'),
      ),
    ],
  },
];
