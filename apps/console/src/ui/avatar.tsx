/** Tints of people without a picture, which are told apart by them. */
const TINTS = 6;

interface AvatarProps {
  /** Whose it is: decides the tint. */
  of: string;
  name: string;
  url: string | null;
  className?: string;
}

/** Somebody's picture, or the initials. Decorative: the name stands beside it. */
export function Avatar({ of, name, url, className = '' }: AvatarProps) {
  if (url !== null) return <img className={`avatar ${className}`} src={url} alt="" />;
  const tint = Number.parseInt(of.slice(-2), 16) % TINTS;
  const initials = name
    .split(/\s+/)
    .map((word) => Array.from(word)[0] ?? '')
    .filter((letter) => /[\p{L}\p{N}]/u.test(letter));
  return (
    <span className={`avatar avatar-${tint} ${className}`} aria-hidden="true">
      {[initials[0], initials.length > 1 ? initials.at(-1) : ''].join('').toUpperCase()}
    </span>
  );
}
