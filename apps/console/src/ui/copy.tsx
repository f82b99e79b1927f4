import { useMutation } from '@tanstack/react-query';
import { t } from '../texts/texts.js';
import { Button } from './button.js';
import { ToldFailure } from './failure-text.js';
import { Failure } from './notices.js';

/** Puts a text on the clipboard. @throws ToldFailure where the browser does not allow it, as on a page without TLS */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    throw new ToldFailure(t('ui.notCopied'));
  }
}

interface CopyButtonProps {
  text: string;
  className?: string;
  /** What the button says, before and after. */
  says?: string;
  saysDone?: string;
}

/** Copies a text, and says whether it did. */
export function CopyButton({ text, className, says = t('ui.copy'), saysDone = t('ui.copied') }: CopyButtonProps) {
  const copying = useMutation({ mutationFn: copy });
  const isCopied = copying.isSuccess && copying.variables === text;
  return (
    <>
      <Button className={className} onClick={() => copying.mutate(text)}>
        {isCopied ? saysDone : says}
      </Button>
      <Failure of={copying.error} />
    </>
  );
}
