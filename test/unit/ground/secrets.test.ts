import { expect, test } from "vitest";
import { secretShape } from "../../../src/ground/secrets.ts";

// Written in two parts, so that no scanner takes this file for a leak.
const of = (...parts: readonly string[]) => parts.join("");
const letters = "Ab0Cd1Ef2Gh3Ij4Kl5Mn6Op7Qr8St9Uv0Wx1Yz2Ab3Cd4Ef5Gh6Ij7Kl8Mn9";

const secrets: readonly (readonly [shape: string, text: string])[] = [
  ["a private key block", of("-----BEGIN ", "PRIVATE KEY-----")],
  ["a private key block", of("-----BEGIN RSA ", "PRIVATE KEY-----")],
  ["a private key block", of("-----BEGIN OPENSSH ", "PRIVATE KEY-----")],
  ["a private key block", of("-----BEGIN PGP ", "PRIVATE KEY BLOCK-----")],
  ["an AWS access key id", of("AKIA", "IOSFODNN7EXAMPLE")],
  ["an AWS access key id", of("ASIA", "IOSFODNN7EXAMPLE")],
  ["a GitHub token", of("ghp_", letters.slice(0, 36))],
  ["a GitHub token", of("gho_", letters.slice(0, 36))],
  ["a GitHub token", of("ghs_", letters.slice(0, 36))],
  ["a GitHub token", of("github_pat_", letters.slice(0, 22), "_", letters.slice(0, 59))],
  ["a GitLab token", of("glpat-", letters.slice(0, 20))],
  ["a Slack token", of("xoxb-", "123456789012-abcdef")],
  ["a Slack token", of("https://hooks.slack.com/services/", "T0123ABCD/B0")],
  ["a Google API key", of("AIza", letters.slice(0, 35))],
  ["a Stripe key", of("sk_live_", letters.slice(0, 24))],
  ["an npm token", of("npm_", letters.slice(0, 36))],
  ["a model provider's key", of("sk-ant-", "api03-", letters.slice(0, 40))],
  ["a model provider's key", of("sk-proj-", letters.slice(0, 40))],
  ["a JSON Web Token", of("eyJ", "hbGciOiJIUzI1NiJ9.", "eyJ", "zdWIiOiIxMjM0NTY3ODkwIn0.", letters.slice(0, 43))],
  ["a password in a URL", of("postgres://user:", "hunter2@db.example.org/x")],
  ["a password in a URL", of("https://x-token:", "abcdef@example.org/a.git")],
  ["a password with its value", of("password=", "hunter22")],
  ["a password with its value", of('api_key: "', 'abcdef123456"')],
  ["a password with its value", of("CLIENT_SECRET=", "abcdef123456")],
];

test.each(secrets)("secretShape: %s is found, alone and inside a text", (shape, text) => {
  expect(secretShape(text)).toBe(shape);
  expect(secretShape(`the log says '${text}' at the end`)).toBe(shape);
  expect(secretShape(`first line\n${text}\nlast`)).toBe(shape);
});

const harmless = [
  "",
  "a.sh prints the wrong word",
  "the password is read from the environment, never from the command line",
  "password: see the vault",
  "password: ",
  "a secret without a value, an api key without one",
  "PASSWORD=$PASSWORD and password=${PASSWORD} and password=<password> and password=***",
  "the token expires: rotate it",
  "task-runner, risk-ant-colony, disk-proj-folder",
  "342b6b34f17b5d556201c1c87581bba9d5e87aef6de016d8",
  "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  "commit 1f3870be274f6c49b3e31a0c6728957f1f3870be is the last good one",
  "s-20261009100000-1a2b-7581bba9d5e8",
  "lib/secrets/password.ts",
  "src/api_key/index.ts reads AKIA from a table",
  "https://example.org:8080/a/b@1.2.3/c",
  "https://github.com/a/b/blob/main/password=.md",
  "ssh://git@example.org:22/a.git",
  "git@example.org:a/b.git",
  "npm_config_registry and npm_package_name",
  "ghp_ is how such a token begins",
  "eyJ begins one, eyJhbGciOiJIUzI1NiJ9 is only a header",
  "-----BEGIN PUBLIC KEY-----",
  "-----BEGIN CERTIFICATE-----",
  "sk-learn, sk-ant-1",
  "AKIAIOSFODNN7EXAMPLES and xAKIAIOSFODNN7EXAMPLE are longer words",
  "the ratio is 3:4@5",
  "mailto:someone@example.org, tel:+123456@x",
];

test.each(harmless)("secretShape: no false alarm on '%s'", (text) => {
  expect(secretShape(text)).toBeNull();
});

test("secretShape: 64 KiB of what almost matches takes no longer than a second", () => {
  const started = process.hrtime.bigint();
  for (const piece of ["eyJaaaaaaaa.", "a://", "a://b:", "-----BEGIN A ", "password=", "ghp_a", "xoxb-", "secret: ", "a:b@"]) {
    secretShape(piece.repeat(Math.floor(65_536 / piece.length)));
  }
  expect(Number(process.hrtime.bigint() - started) / 1e6).toBeLessThan(1000);
});
