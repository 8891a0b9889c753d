/**
 * The shapes of well-known credentials. A text that can reach a tracked file and carries one is refused (contract,
 * section 6). The list is short and exact: a shape is here when its prefix or frame is its issuer's own, so that
 * ordinary prose, paths and hashes never match. Each expression is linear.
 */

interface Shape {
  readonly name: string;
  readonly form: RegExp;
}

const shapes: readonly Shape[] = [
  { name: "a private key block", form: /-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----/ },
  { name: "an AWS access key id", form: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])/ },
  { name: "a GitHub token", form: /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59})/ },
  { name: "a GitLab token", form: /(?<![A-Za-z0-9])gl(?:pat|dt|rt|cbt|ptt|ft|oas)-[A-Za-z0-9_-]{20}/ },
  { name: "a Slack token", form: /(?<![A-Za-z0-9])xox[abeoprs]-[0-9A-Za-z-]{10}|hooks\.slack\.com\/services\/T[A-Z0-9]{8}/ },
  { name: "a Google API key", form: /(?<![A-Za-z0-9_-])AIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])/ },
  { name: "a Stripe key", form: /(?<![A-Za-z0-9])[rs]k_(?:live|test)_[0-9A-Za-z]{16}/ },
  { name: "an npm token", form: /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/ },
  { name: "a model provider's key", form: /(?<![A-Za-z0-9])sk-(?:ant-|proj-|svcacct-)[A-Za-z0-9_-]{20}/ },
  { name: "a JSON Web Token", form: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,512}\.eyJ[A-Za-z0-9_-]{8,2048}\.[A-Za-z0-9_-]{16}/ },
  { name: "a password in a URL", form: /(?<![a-z])[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@\/"'<>]{1,64}:[^\s:@\/"'<>$]{3,128}@[^\s\/]/ },
  {
    name: "a password with its value",
    form: /(?<![A-Za-z0-9])(?:password|passwd|secret|api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret)["']?(?:=|: ?["'])["']?(?![$<{*%\[(])[^\s"'`,;)}\]<>]{6}/i,
  },
];

/** The name of the first credential shape that a text carries, or `null`. The value itself is never given. */
export function secretShape(text: string): string | null {
  return shapes.find((shape) => shape.form.test(text))?.name ?? null;
}
