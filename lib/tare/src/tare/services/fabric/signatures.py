"""The form of ECDSA signatures that Fabric's membership service insists on. Pure."""

from __future__ import annotations

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def is_low_s(certificate_pem: bytes) -> bool:
    """Say whether the P-256 signature on a certificate is the smaller of its two equivalent forms.

    Fabric re-encodes a root whose signature is not, and Go 1.19 and later then no longer find
    that root among the trusted ones: "certificate signed by unknown authority". Fabric's own
    ``cryptogen`` signs with either form, so roots are drawn until this holds.
    """
    _, s = decode_dss_signature(x509.load_pem_x509_certificate(certificate_pem).signature)
    return s <= P256_ORDER // 2
