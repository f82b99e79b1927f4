import type { texts as english } from '../en/account.js';
import type { Translated } from '../translated.js';

export const texts: Translated<typeof english> = {
  email: 'メールアドレス',
  password: 'パスワード',
  signIn: 'サインイン',
  signInByPasskey: 'パスキーでサインイン',
  forgot: 'パスワードをお忘れですか？',
  signUp: 'アカウントを作成',
  ended: 'セッションが終了しました。もう一度サインインしてください。',
  untold:
    'この端末ではサインアウトしましたが、サーバーに接続できず、セッションを終了できませんでした。終了するには、もう一度サインインして「セッション」を開いてください。',
  reminder: {
    label: 'メールアドレスの確認',
    text: 'メールアドレスがまだ確認されていません。',
    sent: '{email} に確認リンクを送信しました。',
    send: '確認メールを送信',
    later: '後で',
  },
  providers: {
    label: 'その他の方法',
    signIn: '{provider} で続ける',
    signUp: '{provider} で登録',
    link: '{provider} を連携',
    linkWhat: '連携すると、パスワードなしでサインインできます。',
    linkAction: '続ける',
    password: 'パスワード',
    passwordHint: 'パスワードを設定している場合',
    yours: 'あなたのアカウント',
    back: 'アカウントに戻る',
  },
  mailed: {
    title: 'メールを確認してください',
    text: '6桁のコードを送信しました。有効期限は5分です。',
    code: 'コード',
    resend: 'コードを再送信',
    resent: '新しいコードを送信しました。前のコードは使用できません。',
  },
  proof: {
    title: 'ご本人確認',
    text: 'サインインから時間が経っています。重要な変更の前に、ご本人であることを確認してください。パスワードがない場合は、一度サインアウトしてから、もう一度サインインしてください。',
    usePassword: 'パスワードを使う',
    useCode: 'コードを使う',
  },
  factor: {
    totp: '確認コードの入力',
    passkey: 'パスキーの確認',
    recovery: 'リカバリーコードの入力',
    useTotp: '認証アプリを使う',
    usePasskey: 'パスキーを使う',
    useRecovery: 'リカバリーコードを使う',
    totpCode: '認証アプリに表示されているコード',
    recoveryCode: 'リカバリーコード',
    once: '各コードは1回だけ使用できます。',
    browserAsks: 'ブラウザーの案内に従って認証してください。',
  },
};
