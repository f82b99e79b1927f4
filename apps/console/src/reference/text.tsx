/** A description: its paragraphs, with what stands in backticks as code. */
export function Text({ of: text, className }: { of: string; className?: string }) {
  if (text === '') return null;
  return text.split(/\n{2,}/).map((paragraph, n) => (
    <p key={n} className={className}>
      <Inline of={paragraph} />
    </p>
  ));
}

export function Inline({ of: text }: { of: string }) {
  // every second part stood in backticks
  return text.split('`').map((part, n) => (n % 2 === 1 ? <code key={n}>{part}</code> : part));
}
