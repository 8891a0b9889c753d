import { expect, test } from "vitest";
import { networkPlace } from "../../../src/boundary/session-record.ts";

test.each([
  ["https://example.org/team/repo.git", "example.org/team/repo.git"],
  ["https://user:pass@example.org:8443/team/repo.git?token=x#y", "example.org/team/repo.git"],
  ["https://token@Example.ORG/Team/Repo", "example.org/Team/Repo"],
  ["https://a@b:c@example.org/x", "example.org/x"],
  ["HTTP://example.org/x/", "example.org/x"],
  ["ssh://git@example.org:22/team/repo.git", "example.org/team/repo.git"],
  ["ssh://git@[::1]:22/x", "[::1]/x"],
  ["git@example.org:team/repo.git", "example.org/team/repo.git"],
  ["example.org:team/repo.git", "example.org/team/repo.git"],
  ["git@example.org:/abs/repo", "example.org/abs/repo"],
  ["git://example.org//x", "example.org/x"],
  ["git+ssh://u@h.example/x", "h.example/x"],
  ["https://example.org/a\u0001b", "example.org/a b"],
  ["/srv/repo.git", null],
  ["../repo", null],
  ["file:///srv/repo", null],
  ["C:\\repo", null],
  ["C:/repo", null],
  ["", null],
  ["ext::sh -c 'curl -u user:secret'", null],
  ["ext::https://user:secret@example.org/x", null],
  ["codecommit::eu-west-1://profile@repo", null],
  ["https://", null],
])("networkPlace: %s is %s", (url, place) => {
  expect(networkPlace(url)).toBe(place);
});

test.each(["https://user:s3cr3t@h.example/x?s3cr3t#s3cr3t", "https://s3cr3t@h.example/x", "ssh://u:s3cr3t@h.example/x", "ext::sh -c s3cr3t", "ftp://u:s3cr3t@h.example/x"])("networkPlace: nothing of '%s' that could be a secret stays", (url) => {
  expect(networkPlace(url) ?? "").not.toContain("s3cr3t");
});
