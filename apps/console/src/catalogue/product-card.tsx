import type { RouterOutputs } from '@tandem/client';
import { Icon } from '../ui/icons.js';
import { money } from '../texts/formats.js';
import { t } from '../texts/texts.js';

interface ProductCardProps {
  product: RouterOutputs['products']['get'];
  categoryName(id: string): string;
}

export function ProductCard({ product: { name, description, price, images, categoryIds }, categoryName }: ProductCardProps) {
  const [image] = images;
  return (
    <li className="card-of-product">
      {image ? (
        <img src={image.url} alt="" loading="lazy" width="320" height="160" />
      ) : (
        <div className="no-image">
          <Icon name="image" />
        </div>
      )}
      <div>
        <p className="row-title">{name}</p>
        <p className="row-more">{description}</p>
        <p className="card-foot">
          <strong>{price ? money(price.amount, price.currency) : t('catalogue.noPrice')}</strong>
          {categoryIds.slice(0, 2).map((id) => (
            <span key={id} className="tag tag-plain">
              {categoryName(id)}
            </span>
          ))}
        </p>
      </div>
    </li>
  );
}
