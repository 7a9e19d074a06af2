/** Device identity: a CA per organisation, one-time codes, devices, certificates, and whose TPMs are believed. */
import type { Migration } from "./migration.ts";

export const deviceIdentity: Migration = {
  name: "0005-device-identity",
  statements: [
    `create table device_ca (
      org_id text not null, generation bigint not null, certificate text not null, private_key text not null,
      not_after bigint not null, created_at bigint not null, retired_at bigint,
      primary key (org_id, generation))`,
    // One that issues: of two nodes that rotate at once, one wins.
    "create unique index device_ca_current on device_ca (org_id) where retired_at is null",

    "create index device_ca_end on device_ca (not_after) where retired_at is null",
    "create index device_ca_retired on device_ca (retired_at) where retired_at is not null",

    // There from its generation's first moment, so that a revocation always has a row to mark.
    `create table device_crl (
      org_id text not null, generation bigint not null, crl_number bigint not null, crl text not null,
      this_update bigint not null, next_update bigint not null, renew_at bigint not null, revocations bigint not null,
      primary key (org_id, generation))`,

    `create table device_enrollment_code (
      org_id text not null, id text not null, code_hash text not null, name text, attestation text not null,
      replaces text, created_at bigint not null, created_by text not null, expires_at bigint not null,
      used_at bigint, device_id text, withdrawn_at bigint,
      primary key (org_id, id))`,
    "create unique index device_enrollment_code_hash on device_enrollment_code (org_id, code_hash)",
    "create index device_enrollment_code_expiry on device_enrollment_code (expires_at)",

    `create table device (
      org_id text not null, id text not null, name text not null, attestation text not null,
      ek_hash text, ak_public text, enrolled_at bigint not null, revoked_at bigint, revoked_reason text,
      last_seen_at bigint,
      primary key (org_id, id))`,
    // One active device for each EK.
    "create unique index device_ek on device (org_id, ek_hash) where ek_hash is not null and revoked_at is null",

    `create table device_certificate (
      org_id text not null, fingerprint text not null, device_id text not null, generation bigint not null,
      serial text not null, key_hash text not null, certificate text not null,
      not_before bigint not null, not_after bigint not null, issued_at bigint not null,
      superseded_at bigint, revoked_at bigint,
      primary key (org_id, fingerprint),
      foreign key (org_id, device_id) references device (org_id, id) on delete cascade)`,
    "create unique index device_certificate_serial on device_certificate (org_id, serial)",
    // One that may be renewed.
    "create unique index device_certificate_current on device_certificate (org_id, device_id) where superseded_at is null",
    "create index device_certificate_device on device_certificate (org_id, device_id)",
    "create index device_certificate_revoked on device_certificate (org_id, generation, not_after) where revoked_at is not null or superseded_at is not null",

    "create index device_certificate_passed on device_certificate (not_after) where superseded_at is not null",

    `create table device_key (
      org_id text not null, key_hash text not null, device_id text not null, tpm_public text, created_at bigint not null,
      primary key (org_id, key_hash),
      foreign key (org_id, device_id) references device (org_id, id) on delete cascade)`,
    "create index device_key_device on device_key (org_id, device_id)",

    `create table device_challenge (
      org_id text not null, id text not null, code_hash text not null, secret_hash text not null, nonce text not null,
      ek_hash text not null, ek_path text not null, ak_public text not null,
      created_at bigint not null, expires_at bigint not null,
      primary key (org_id, id))`,
    "create index device_challenge_code on device_challenge (org_id, code_hash)",
    "create index device_challenge_expiry on device_challenge (expires_at)",

    `create table device_root (
      org_id text not null, fingerprint text not null, certificate text not null, subject text not null,
      subject_hash text not null, not_after bigint not null, created_at bigint not null, created_by text not null,
      primary key (org_id, fingerprint))`,
    "create index device_root_subject on device_root (org_id, subject_hash)",

    `create table device_allowed_ek (
      org_id text not null, ek_hash text not null, label text not null,
      created_at bigint not null, created_by text not null,
      primary key (org_id, ek_hash))`,

    // Refresh tokens are bound to the device, not to one of its certificates.
    "alter table token_family add column device_id text",
    "create index token_family_device on token_family (org_id, device_id) where device_id is not null",
  ],
};
