// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of the kernel's own that allocate for the user named by their argument: a function of
 * that user is the allocation site. Preemption off.
 */
#include <crypto/aead.h>
#include <crypto/hash.h>
#include <crypto/skcipher.h>
#include <linux/crypto.h>
#include <net/net_namespace.h>

#include "identity/alloc.h"

/*
 * A subsystem of network namespaces: all of them have one allocation site, and none of them a
 * caller of its own.
 */
void ls_alloc_for_net(const struct pernet_operations *ops)
{
	if (ops->id && ops->size)
		ls_alloc_for((u64)ops, ops->init ? (unsigned long)ops->init : (unsigned long)ops->exit);
}

/*
 * An algorithm that a transform is made for, whose context is in it. The function is of the
 * algorithm or of its template, as its contexts are of one type with all of the template's
 * instances; of an algorithm of another sort the size has to do.
 */
void ls_alloc_for_alg(struct crypto_alg *alg)
{
	unsigned long function = 0;

	switch (alg->cra_flags & CRYPTO_ALG_TYPE_MASK) {
	case CRYPTO_ALG_TYPE_CIPHER:
		function = (unsigned long)alg->cra_cipher.cia_encrypt;
		break;
	case CRYPTO_ALG_TYPE_AEAD:
		function = (unsigned long)container_of(alg, struct aead_alg, base)->encrypt;
		break;
	case CRYPTO_ALG_TYPE_SKCIPHER:
		function = (unsigned long)container_of(alg, struct skcipher_alg, base)->encrypt;
		break;
	case CRYPTO_ALG_TYPE_SHASH:
		function = (unsigned long)container_of(alg, struct shash_alg, base)->update;
		break;
	case CRYPTO_ALG_TYPE_AHASH:
		function = (unsigned long)container_of(alg, struct ahash_alg, halg.base)->update;
		break;
	}
	ls_alloc_for(function, function);
}
