import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** A link within a text: `t.rich('records.operations.lead', { link: linkTo('/orders') })`. */
export const linkTo = (to: string) => (text: ReactNode) => <Link to={to}>{text}</Link>;
