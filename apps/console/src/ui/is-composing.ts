import type { KeyboardEvent } from 'react';

/**
 * Whether a key belongs to an input method, as the Enter that takes a word of it does. Safari ends the composition
 * before that Enter: only its code says so.
 */
export const isComposing = ({ nativeEvent }: KeyboardEvent): boolean => nativeEvent.isComposing || nativeEvent.keyCode === 229;
