/** The page, in points: A4 across. */
const [WIDE, HIGH] = [842, 595];
const escaped = (text: string) => text.replaceAll(/[\\()]/g, '\\$&');

/** About how wide words are in Times, in parts of its size. */
function widthOf(words: string): number {
  const widths = words
    .split('')
    .map((letter) => (/[il.,:' ]/.test(letter) ? 0.27 : /[fjtrsI]/.test(letter) ? 0.36 : /[mwA-Z]/.test(letter) ? 0.72 : 0.5));
  return widths.reduce((sum, width) => sum + width, 0);
}

/** A certificate as a PDF of one page. Letters beyond Latin-1 cannot be shown. */
export function certificate({
  title,
  holder,
  says,
  date,
}: {
  title: string;
  holder: string;
  says: string;
  date: string;
}): Buffer {
  const text = (font: string, size: number, y: number, colour: string, words: string) => {
    const x = Math.round((WIDE - widthOf(words) * size) / 2);
    return `BT /${font} ${size} Tf ${colour} rg ${x} ${y} Td (${escaped(words)}) Tj ET`;
  };
  const page = [
    `0.99 0.98 0.94 rg 0 0 ${WIDE} ${HIGH} re f`,
    `0.13 0.35 0.42 RG 6 w 30 30 ${WIDE - 60} ${HIGH - 60} re S 1.5 w 42 42 ${WIDE - 84} ${HIGH - 84} re S`,
    text('F2', 44, 450, '0.13 0.35 0.42', title),
    text('F1', 20, 390, '0.3 0.3 0.3', 'awarded to'),
    text('F2', 34, 335, '0.1 0.1 0.1', holder),
    text('F1', 18, 285, '0.3 0.3 0.3', says),
    text('F1', 16, 120, '0.3 0.3 0.3', date),
    '0.78 0.2 0.18 rg 421 205 m 455 205 455 155 421 155 c 387 155 387 205 421 205 c f',
  ].join('\n');
  const font = (name: string) => `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${WIDE} ${HIGH}] /Resources << /Font << /F1 4 0 R /F2 5 0 R >> >> /Contents 6 0 R >>`,
    font('Times-Roman'),
    font('Times-Bold'),
    `<< /Length ${Buffer.byteLength(page, 'latin1')} >>\nstream\n${page}\nendstream`,
  ];
  let file = '%PDF-1.4\n';
  const starts = objects.map((object, at) => {
    const start = file.length;
    file += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(start).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${starts.join('')}`;
  const end = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(file + table + end, 'latin1');
}
