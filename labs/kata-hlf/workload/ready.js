/**
 * Wait until the network serves the load: one real transaction through each organisation's gateway.
 *
 * After a start the gateways still learn of each other's peers, and endorsement fails for
 * seconds; only a transaction sent the way the load sends it shows that this has passed.
 *
 * Usage: node ready.js CONFIG.json, where CONFIG.json holds
 *   { channel, contract, deadlineSeconds, organizations: [{ msp, endpoint, tlsRoot, certificate, privateKey }] }
 * with paths of PEM files. Ends with 1 and the last error when the deadline passes.
 */
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const grpc = require('@grpc/grpc-js');
const { connect, signers } = require('@hyperledger/fabric-gateway');

const PAUSE_MS = 250;
const ATTEMPT_MS = 5000;

const config = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const deadline = Date.now() + config.deadlineSeconds * 1000;
const soon = () => ({ deadline: Date.now() + ATTEMPT_MS });

async function transact(organization, attempt) {
    const client = new grpc.Client(organization.endpoint, grpc.credentials.createSsl(fs.readFileSync(organization.tlsRoot)));
    const gateway = connect({
        client,
        identity: { mspId: organization.msp, credentials: fs.readFileSync(organization.certificate) },
        signer: signers.newPrivateKeySigner(crypto.createPrivateKey(fs.readFileSync(organization.privateKey))),
        endorseOptions: soon,
        submitOptions: soon,
        commitStatusOptions: soon,
    });
    try {
        const id = `gate.${organization.msp}.${Date.now().toString(36)}.${attempt}`;
        const contract = gateway.getNetwork(config.channel).getContract(config.contract);
        await contract.submitTransaction('CreateAsset', id, 'blue', '1', 'tare', '1');
    } finally {
        gateway.close();
        client.close();
    }
}

async function insist(organization) {
    for (let attempt = 0; ; attempt++) {
        try {
            return await transact(organization, attempt);
        } catch (error) {
            if (Date.now() > deadline) {
                throw new Error(`${organization.msp} through ${organization.endpoint}: ${error.message}`);
            }
            await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        }
    }
}

Promise.all(config.organizations.map(insist)).catch((error) => {
    console.error(error.message);
    process.exit(1);
});
