/** Signing in. */
export const texts = {
  email: 'Email',
  password: 'Password',
  signIn: 'Sign in',
  signInByPasskey: 'Sign in with a passkey',
  forgot: 'Forgot your password?',
  signUp: 'Create an account',
  ended: 'Your session has ended. Please sign in again.',
  untold:
    'You are signed out here, but the server could not be reached to end the session. To end it, sign in again and go to Sessions.',
  reminder: {
    label: 'Your email address',
    text: 'Your email address is not confirmed yet.',
    sent: 'The link is on its way to {email}.',
    send: 'Mail me the link',
    later: 'Later',
  },
  providers: {
    label: 'Other ways',
    signIn: 'Continue with {provider}',
    signUp: 'Sign up with {provider}',
  },
  mailed: {
    title: 'Check your mail',
    text: 'We have sent you a six-digit code. It is valid for five minutes.',
    code: 'Code',
    resend: 'Send another code',
    resent: 'Another code is on its way; the previous one is no longer valid.',
  },
  proof: {
    title: 'Is it still you?',
    text: 'You signed in a while ago. Before something this important changes, prove that it is you. Without a password, sign out and in again.',
    usePassword: 'Use the password',
    useCode: 'Use a code',
  },
  factor: {
    totp: 'Your code, please',
    passkey: 'Your passkey, please',
    recovery: 'A recovery code, please',
    useTotp: 'Use the authenticator app',
    usePasskey: 'Use a passkey',
    useRecovery: 'Use a recovery code',
    totpCode: 'The code that your authenticator app shows',
    recoveryCode: 'One of your recovery codes',
    once: 'Each works once.',
    browserAsks: 'Your browser will ask you for it.',
  },
} as const;
