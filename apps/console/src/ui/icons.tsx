/** Line drawings in a box of 24. */
const DRAWINGS = {
  bell: 'M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15zM10 21h4',
  chat: 'M4 5h16v11H10l-4 4v-4H4zM8 9h8M8 12.5h5',
  chart: 'M4 20h16M7 16v-5M12 16V6M17 16v-8',
  devices: 'M3 5h13v9H3zM7 18h5M18 9h3v10h-5v-5',
  people:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20c0-3.5 2.5-6 6-6s6 2.5 6 6M16 4.5a3.5 3.5 0 0 1 0 6.3M18 14.5c2 .8 3 2.8 3 5.5',
  leave: 'M14 4H5v16h9M10 12h11M17.500 8.500 21 12l-3.500 3.500',
  light:
    'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.500 1.500M17.500 17.500 19 19M5 19l1.500-1.500M17.500 6.500 19 5',
  dark: 'M20 14.500A8.500 8.500 0 0 1 9.500 4 8.500 8.500 0 1 0 20 14.500z',
  system: 'M3 5h18v11H3zM8 20h8M12 16v4',
  lock: 'M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 0 1 7 0v3',
  back: 'M15 5l-7 7 7 7',
  image: 'M4 5h16v14H4zM4 16l4.500-4.500 5 5M12.500 15l3-3 4.500 4.500M9 8.800v.010',
  send: 'M4 12 20 4l-5 16-3.500-6.500z',
} as const;

export type IconName = keyof typeof DRAWINGS;

/** Decorative: the text beside it says the same. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={DRAWINGS[name]} />
    </svg>
  );
}
