import { useEffect, useEffectEvent, useState, type RefCallback } from 'react';

/** Takes files that are dropped anywhere on the conversation, or pasted into the composer. */
export function useFilesFromOutside(
  onFiles: (files: readonly File[]) => void,
): [ref: RefCallback<HTMLDivElement>, isDragging: boolean] {
  // a muted member has none
  const [composer, setComposer] = useState<HTMLDivElement | null>(null);
  const [isDragging, setDragging] = useState(false);
  const take = useEffectEvent((event: Event, data: DataTransfer | null) => {
    const files = [...(data?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    onFiles(files);
  });
  useEffect(() => {
    const around = composer?.parentElement;
    if (!composer || !around) return undefined;
    const stopping = new AbortController();
    const { signal } = stopping;
    composer.addEventListener(
      'paste',
      // programs give a picture of a text with it
      (event) => event.clipboardData?.types.includes('text/plain') || take(event, event.clipboardData),
      { signal },
    );
    around.addEventListener(
      'dragover',
      (event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        // else the browser would open the file
        event.preventDefault();
        setDragging(true);
      },
      { signal },
    );
    around.addEventListener('dragleave', () => setDragging(false), { signal });
    around.addEventListener(
      'drop',
      (event) => {
        setDragging(false);
        take(event, event.dataTransfer);
      },
      { signal },
    );
    return () => stopping.abort();
  }, [composer]);
  return [setComposer, isDragging];
}
