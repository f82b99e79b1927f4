import { useEffect, useRef, useState } from 'react';
import { Icon } from '../ui/icons.js';

/** In pixels of the screen. */
const SIZE = 64;

/** A picture that is not sent yet, drawn small: its file has no address that the page's policy allows. */
export function Thumbnail({ of: file }: { of: File }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    let isGone = false;
    async function draw(): Promise<void> {
      const picture = await createImageBitmap(file);
      const { width, height } = picture;
      const side = Math.min(width, height);
      if (!isGone)
        canvas.current
          ?.getContext('2d')
          ?.drawImage(picture, (width - side) / 2, (height - side) / 2, side, side, 0, 0, SIZE, SIZE);
      picture.close();
      setDrawn(!isGone);
    }
    // what is no picture has the icon alone
    if (file.type.startsWith('image/')) draw().catch(() => {});
    return () => {
      isGone = true;
    };
  }, [file]);
  return (
    <>
      <canvas ref={canvas} width={SIZE} height={SIZE} className="thumbnail" hidden={!isDrawn} aria-hidden="true" />
      {!isDrawn && <Icon name={file.type.startsWith('image/') ? 'image' : 'file'} />}
    </>
  );
}
