import { describeFailure } from '@tandem/client';

/** What went wrong, with the problems of each field; nothing without an error. */
export function Failure({ of: error }: { of: unknown }) {
  if (!error) return null;
  const { message, data } = describeFailure(error);
  return (
    <p className="failure" role="alert">
      {data.length > 0 ? data.join('; ') : message}
    </p>
  );
}
