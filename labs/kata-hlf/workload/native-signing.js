/**
 * Preload (node --require): sign with OpenSSL in place of the gateway's JavaScript.
 *
 * @hyperledger/fabric-gateway 1.5.0 signs with a pure JavaScript implementation of P-256, about
 * 0.9 ms of CPU a signature against 0.02 ms here, so that the client limits what can be measured
 * on a small machine. With this preload the client is no longer stock Caliper: results must say so.
 */
'use strict';

const crypto = require('crypto');
const path = require('path');

const root = path.dirname(require.resolve('@hyperledger/fabric-gateway'));
const signers = require(path.join(root, 'identity', 'signers'));
const gateway = require(path.join(root, 'gateway'));
const { none } = require(path.join(root, 'hash', 'hashes'));

const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** Encode an unsigned big-endian number as a DER INTEGER. */
function integer(bytes) {
    let start = 0;
    while (start < bytes.length - 1 && bytes[start] === 0) {
        start++;
    }
    const sign = bytes[start] & 0x80 ? [0] : [];
    const body = Buffer.concat([Buffer.from(sign), bytes.subarray(start)]);
    return Buffer.concat([Buffer.from([0x02, body.length]), body]);
}

/** Sign as the gateway's own signer does: DER, and the smaller of the two equivalent forms. */
function sign(key, message) {
    const signature = crypto.sign('sha256', message, { key, dsaEncoding: 'ieee-p1363' });
    let s = BigInt(`0x${signature.subarray(32).toString('hex')}`);
    if (s > P256_ORDER / 2n) {
        s = P256_ORDER - s;
    }
    const low = Buffer.from(s.toString(16).padStart(64, '0'), 'hex');
    const body = Buffer.concat([integer(signature.subarray(0, 32)), integer(low)]);
    return Buffer.concat([Buffer.from([0x30, body.length]), body]);
}

signers.newPrivateKeySigner = (key) => async (message) => sign(key, message);

// The message itself must reach the signer, which hashes it while signing.
const connect = gateway.connect;
gateway.connect = (options) => connect({ ...options, hash: none });
