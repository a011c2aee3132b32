from __future__ import annotations

import datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from tare.services.fabric.signatures import is_low_s


def certificate() -> x509.Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "ca")])
    began = datetime.datetime(2026, 1, 1)
    return x509.CertificateBuilder(name, name, key.public_key(), 1, began, began + datetime.timedelta(days=1)).sign(
        key, hashes.SHA256()
    )


def test_a_high_s_is_told_by_the_extra_byte_of_its_encoding() -> None:
    seen = set()
    for _ in range(64):
        drawn = certificate()
        r_length = drawn.signature[3]
        s_length = drawn.signature[5 + r_length]
        low = is_low_s(drawn.public_bytes(Encoding.PEM))
        # Half the group's order is just below 2**255, from where on DER needs a 33rd byte.
        assert low is (s_length <= 32)
        seen.add(low)
    assert seen == {True, False}
